/**
 * All secret formats, and the spellings of environment and declared secrets, through goal, input, output, error, feedback and
 * answer of runs: none is readable in Temporal's database, in Postgres' files, in the log, in the answers of the API or in an
 * export. Needs a stack of its own, because it reads the files.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createLog } from '../../src/cli/serve/log.ts';
import { openApi } from '../../src/cli/serve/open-api.ts';
import { Parts } from '../../src/cli/serve/parts.ts';
import { connectClient } from '../../src/client/connect.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { TemporalClient } from '../../src/client/temporal/temporal-client.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { createRegistry } from '../../src/define/registry.ts';
import { createEncryption } from '../../src/encryption/encryption.ts';
import { mainKey } from '../../src/encryption/main-key.ts';
import { SEARCH_ATTRIBUTE_TYPES } from '../../src/protocol/names.ts';
import { type Stack, startStack } from '../../src/stack/start-stack.ts';
import { migrateToLatest } from '../../src/store/migrate.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import '../support/quiet-runtime.ts';
import { secretFormats, spellings } from '../support/secret-formats.ts';
import { workflowBundlePath } from '../support/stack.ts';

const ENVIRONMENT = 'env "horse" Zx81/+battery?';
const DECLARED = 'declared "horse" Kk77/+battery?';
const SECRETS = [
  ...secretFormats(5).map(({ text, secret }) => ({ text, secret })),
  ...[ENVIRONMENT, DECLARED].flatMap((value) =>
    Object.values(spellings(value)).map((text) => ({ text, secret: text })),
  ),
];
/** So many in one text: it has to fit into a goal and into an answer. */
const IN_ONE = 10;
const TEXTS = Array.from({ length: Math.ceil(SECRETS.length / IN_ONE) }, (_, index) =>
  SECRETS.slice(index * IN_ONE, (index + 1) * IN_ONE)
    .map(({ text }) => text)
    .join('\n'),
);

const write = defineTool({
  name: 'write',
  effect: 'read',
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  run: ({ text }, context) => {
    context.log('seen', { text });
    if (context.attempt === 1) throw new Error(`refused: ${text}`);
    return { text };
  },
});
const registry = createRegistry([defineAgent({ name: 'writer', tools: [write], secrets: [DECLARED] })]);
const encryption = createEncryption([mainKey('a', new Uint8Array(32).fill(1))]);
const TOKEN = 'viewer-token-of-the-tests';

let stack: Stack;
let store: Store;
let client: TemporalClient;
let logFile: string;
let app: Awaited<ReturnType<typeof openApi>>;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  vi.stubEnv('WAREHOUSE_PASSWORD', ENVIRONMENT);
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-test-secrets-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  stack = await startStack({ dataDir: join(folder, 'data'), searchAttributes: SEARCH_ATTRIBUTE_TYPES, env: {} });
  ends.push(() => stack.stop());
  const { temporalAddress: address, namespace, databaseUrl } = stack;
  await migrateToLatest(databaseUrl);
  store = createStore({ databaseUrl, encryption });
  const temporal = await connectClient({ address, namespace, env: {}, encryption });
  ends.push(
    () => temporal.connection.close(),
    () => store.close(),
  );
  client = createClient({ temporal, registry, store, taskQueue: 'secrets', searchAttributes: true });
  const connection = await NativeConnection.connect({ address });
  const worker = await createWorker({
    connection,
    namespace,
    registry,
    store,
    taskQueue: 'secrets',
    searchAttributes: true,
    workflowBundlePath: workflowBundlePath(),
    encryption,
  });
  const running = worker.run();
  ends.push(async () => {
    worker.shutdown();
    await running;
    await connection.close();
  });
  logFile = join(stack.dataDir, 'test.log');
  const parts = new Parts(() => {});
  ends.push(() => parts.stop(new AbortController().signal));
  // The API as `secondwind api` and `dev` open it.
  app = await openApi(parts, {
    temporalAddress: address,
    namespace,
    searchAttributes: true,
    registry,
    store,
    grants: [
      { role: 'viewer', token: TOKEN },
      { role: 'operator', token: `operator-${TOKEN}` },
    ],
    allowedHosts: [],
    rateLimit: 10_000,
    reviewer: undefined,
    log: createLog({ file: logFile }, [DECLARED]),
    env: {},
    telemetry: undefined,
    encryption,
    codecOrigins: [],
  });
}, 240_000);
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  vi.unstubAllEnvs();
});

const ask = async (path: string, token = TOKEN, body?: object): Promise<string> => {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await app.request(path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  return answer.text();
};

/** Lives one run that carries the text everywhere, and returns all that people can read of it. */
async function live(text: string, index: number): Promise<string[]> {
  const run_id = `run-${index}`;
  const path = `/v1/runs/${run_id}`;
  const seen: string[] = [];
  const plan = { steps: [{ phase: 'work', tool: 'write', input: { text } }] };
  const policy = { retry: { unknown_error: 0 } };
  await client.runs.start({ agent: 'writer', goal: text, run_id, plan, policy });
  const question = await vi.waitUntil(async () => (await client.runs.get(run_id)).pending_question, 20_000);
  const operator = `operator-${TOKEN}`;
  seen.push(await ask('/v1/questions'), await ask(path));
  seen.push(await ask(`${path}/feedback`, operator, { text: `wrong: ${text}`, by: 'ada' }));
  const { question_id } = question;
  seen.push(await ask(`${path}/answer`, operator, { question_id, decision: 'correct', text, by: 'ada' }));
  const { outcome, result } = await client.runs.result(run_id);
  expect([outcome, result?.output]).toEqual(['completed', { text }]);
  for (const part of ['', '/steps', '/failures', '/trace', '/overrides', '/events']) seen.push(await ask(path + part));
  // What an operator is shown is redacted too; only an artifact's bytes are not.
  for (const part of ['', '/steps', '/failures']) seen.push(await ask(path + part, operator));
  seen.push(await ask(`/v1/artifacts/${String(result?.artifact_id)}`));
  seen.push(await ask('/v1/runs?limit=100'), await ask('/v1/no/such/thing', TOKEN, { text }));
  return seen;
}

/** Bytes of a file in which one of the secrets stands as it is. */
async function filesWithSecrets(): Promise<string[]> {
  const needles = SECRETS.map(({ secret }) => Buffer.from(secret));
  const found: string[] = [];
  const names = await readdir(stack.dataDir, { recursive: true, withFileTypes: true });
  for (const file of names.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    for (const needle of needles) if (bytes.includes(needle)) found.push(`${file.name}: ${needle.toString()}`);
  }
  return found;
}

it('no secret is readable where people look or where data rests', { timeout: 300_000 }, async () => {
  expect(SECRETS.length).toBeGreaterThan(77);
  const log = createLog({ file: logFile }, [DECLARED]);
  const shown: string[] = [];
  for (const [index, text] of TEXTS.entries()) {
    shown.push(...(await live(text, index)));
    log.info({ run_id: `run-${index}`, text }, text);
  }
  const written = await readFile(logFile, 'utf8');
  expect(written.split('\n').length).toBeGreaterThan(TEXTS.length);
  // Every run's text came through: what is looked at is not empty.
  expect(shown.join('\n')).toContain('[redacted:');
  const readable = [...shown, written].join('\n');
  const spelled = (secret: string): string[] => [secret, JSON.stringify(secret).slice(1, -1)];
  expect(SECRETS.filter(({ secret }) => spelled(secret).some((text) => readable.includes(text)))).toEqual([]);

  const database = new Pool({ connectionString: stack.databaseUrl, max: 1 });
  ends.push(() => database.end());
  await database.query('checkpoint');
  expect(await filesWithSecrets()).toEqual([]);
});
