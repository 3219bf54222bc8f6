/**
 * Runs the commands of the corpus and stores what they print: `npx tsx scripts/feedback-corpus/collect.ts`.
 *
 * Needs the tools named in the cases on PATH (FEEDBACK_CORPUS_PATH adds folders, FEEDBACK_CORPUS_NODE_MODULES names a
 * node_modules folder with jest, mocha, ava, eslint and so on) and a database that plain `psql` reaches. A case whose
 * tool is missing is skipped and reported. Nothing is downloaded. Paths of this machine are replaced before writing.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { heldOut, type ToolCase } from './case.ts';
import { cleanCases } from './cases-clean.ts';
import { runtimeCases } from './cases-runtime.ts';
import { moreCleanCases, moreRuntimeCases } from './cases-second.ts';
import { fourthCleanCases } from './cases-fourth.ts';
import { thirdCleanCases } from './cases-third.ts';
import { verificationCases } from './cases-verification.ts';

const root = resolve(import.meta.dirname, '../..');
const out = join(root, 'test/corpus/feedback');
const nodeModules = process.env.FEEDBACK_CORPUS_NODE_MODULES ?? join(root, 'node_modules');
const scratch = mkdtempSync(join(tmpdir(), 'feedback-corpus-'));
const MAX_CHARS = 6_000;

function portable(text: string, folder: string): string {
  const named: [string, string][] = [
    [folder, '/home/dev/project'],
    [nodeModules, '/home/dev/project/node_modules'],
    [root, '/home/dev/project'],
    [scratch, '/home/dev'],
    [process.env.PGHOST ?? '', '/var/run/postgresql'],
    [homedir(), '/home/dev'],
    [tmpdir(), '/tmp'],
  ];
  let result = text;
  for (const [from, to] of named) if (from.length > 1) result = result.replaceAll(from, to);
  result = result.replaceAll(/\/(?:tmp|home\/dev)\/fbtools\b/g, '/home/dev/tools').replaceAll(hostname(), 'devbox');
  if (process.env.PGPORT !== undefined) result = result.replaceAll(process.env.PGPORT, '5432');
  return result.replaceAll('\r\n', '\n').trimEnd();
}

function run(one: ToolCase): { text: string; status: number | null } {
  const folder = join(scratch, one.id);
  mkdirSync(folder);
  symlinkSync(nodeModules, join(folder, 'node_modules'));
  for (const [name, body] of Object.entries(one.files ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), body);
  }
  const path = [join(root, 'node_modules/.bin'), process.env.FEEDBACK_CORPUS_PATH, process.env.PATH]
    .filter(Boolean)
    .join(':');
  // The collecting user's own settings must not affect the output.
  const env = {
    ...process.env,
    PATH: path,
    CI: '1',
    BASH_ENV: '',
    REPO: root,
    TF_CLI_CONFIG_FILE: '',
    npm_config_nodedir: undefined,
    npm_config_userconfig: join(folder, '.npmrc'),
  };
  const options = { cwd: folder, encoding: 'utf8', timeout: 120_000, env } as const;
  if (one.setup !== undefined) spawnSync('sh', ['-c', one.setup], options);
  const done = spawnSync('sh', ['-c', `{ ${one.command}\n} 2>&1`], options);
  return { text: portable(done.stdout, folder), status: done.status };
}

function collect(cases: ToolCase[], label: string | null, name: string): void {
  const lines: string[] = [];
  for (const one of cases) {
    const { text, status } = run(one);
    const missing = status === 127 && !one.id.includes('not-found');
    if (text === '' || missing) {
      console.error(`left out: ${one.id} (status ${status}): ${text.slice(0, 100)}`);
      continue;
    }
    const kept = text.slice(0, MAX_CHARS);
    const sample = { id: one.id, text: kept, label, command: one.command, source: 'tool', held_out: heldOut(kept) };
    lines.push(JSON.stringify(sample));
    if ((status === 0) !== (label === null)) console.error(`look at ${one.id}: status ${status}`);
  }
  writeFileSync(join(out, `${name}.jsonl`), `${lines.join('\n')}\n`);
  console.log(`${name}: ${lines.length} samples`);
}

const COLLECTIONS: [ToolCase[], string | null, string][] = [
  [runtimeCases, 'runtime_error', 'runtime-error'],
  [verificationCases, 'verification_failure', 'verification-failure'],
  [cleanCases, null, 'clean'],
  [moreRuntimeCases, 'runtime_error', 'runtime-error-2'],
  [moreCleanCases, null, 'clean-2'],
  [thirdCleanCases, null, 'clean-3'],
  [fourthCleanCases, null, 'clean-4'],
];
// Names on the command line select files; without any, all are collected again, which also changes the split.
const wanted = process.argv.slice(2);
mkdirSync(out, { recursive: true });
for (const [cases, label, name] of COLLECTIONS)
  if (wanted.length === 0 || wanted.includes(name)) collect(cases, label, name);
rmSync(scratch, { recursive: true, force: true });
