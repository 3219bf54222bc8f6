/**
 * What rests in Temporal and Postgres is encrypted: a secret that travels through a run is in no file of either, keys can be
 * changed while runs are open, and a worker without the key says so. Needs a stack of its own, because it reads the files.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NativeConnection } from '@temporalio/worker';
import { Pool } from 'pg';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/create-api.ts';
import { serveApi } from '../../src/api/serve.ts';
import { connectClient } from '../../src/client/connect.ts';
import { createClient } from '../../src/client/create-client.ts';
import { createCodec } from '../../src/client/payload-codec.ts';
import type { TemporalClient } from '../../src/client/temporal/temporal-client.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { createRegistry } from '../../src/define/registry.ts';
import { createEncryption, type Encryption } from '../../src/encryption/encryption.ts';
import { mainKey } from '../../src/encryption/main-key.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { SEARCH_ATTRIBUTE_TYPES } from '../../src/protocol/names.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
import { type Stack, startStack } from '../../src/stack/start-stack.ts';
import { migrateToLatest } from '../../src/store/migrate.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import '../support/quiet-runtime.ts';
import { temporalCli, workflowBundlePath } from '../support/stack.ts';

/** In one of the formats that previews and records are cleaned of; everything else keeps it as it is. */
const SECRET = `ghp_${'Zq7Xw2Lm9Rt4Kv8Bn3Yc6Jh1Ds5Fg0Pa7'.slice(0, 36)}`;
const LARGE = 20_000;

let failures = 0;
const received: string[] = [];
const echo = defineTool({
  name: 'test.echo',
  effect: 'read',
  input: z.object({ text: z.string(), fail: z.boolean().optional(), large: z.boolean().optional() }),
  output: z.json(),
  run: async ({ text, fail, large }) => {
    received.push(text);
    if (fail && (failures += 1) === 1) throw new Error(`the server refused ${text}`);
    return { said: text, ...(large && { much: `${text} `.repeat(LARGE / text.length) }) };
  },
});
const asks = defineTool({
  name: 'test.asks',
  effect: 'read',
  input: z.object({}),
  output: z.json(),
  run: async () => Promise.reject(new Error('out of order')),
});
const registry = createRegistry([defineAgent({ name: 'keeper_of_secrets', tools: [echo, asks] })]);

const keyA = mainKey('a', new Uint8Array(32).fill(1));
const keyB = mainKey('b', new Uint8Array(32).fill(2));
const onlyA = createEncryption([keyA]);

let stack: Stack;
let database: Pool;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-test-encryption-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  stack = await startStack({ dataDir: join(folder, 'data'), searchAttributes: SEARCH_ATTRIBUTE_TYPES, env: {} });
  ends.push(() => stack.stop());
  await migrateToLatest(stack.databaseUrl);
  database = new Pool({ connectionString: stack.databaseUrl, max: 1 });
  ends.push(() => database.end());
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

interface Side {
  client: TemporalClient;
  store: Store;
}
async function clientWith(encryption: Encryption, taskQueue: string): Promise<Side> {
  const { temporalAddress: address, namespace, databaseUrl } = stack;
  const store = createStore({ databaseUrl, encryption });
  const temporal = await connectClient({ address, namespace, env: {}, encryption });
  ends.push(
    () => temporal.connection.close(),
    () => store.close(),
  );
  return { client: createClient({ temporal, registry, store, taskQueue, searchAttributes: true }), store };
}
async function startWorker(encryption: Encryption, store: Store, taskQueue: string): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({ address: stack.temporalAddress });
  const worker = await createWorker({
    connection,
    namespace: stack.namespace,
    registry,
    store,
    taskQueue,
    searchAttributes: true,
    workflowBundlePath: workflowBundlePath(),
    encryption,
  });
  const running = worker.run();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      worker.shutdown();
      await running;
      await connection.close();
    })();
    return stopped;
  };
  ends.push(stop);
  return stop;
}

async function filesWith(secret: string): Promise<string[]> {
  const found: string[] = [];
  const names = await readdir(stack.dataDir, { recursive: true, withFileTypes: true });
  for (const file of names.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (bytes.includes(secret) || bytes.includes(Buffer.from(secret).toString('base64').slice(4, 40))) found.push(path);
  }
  return found;
}

const temporal = async (...args: string[]): Promise<string> => {
  const where = ['--address', stack.temporalAddress, '--namespace', stack.namespace];
  const { stdout } = await promisify(execFile)(await temporalCli(), [...args, ...where], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
};
/** The command writes payloads in base64. */
const textsIn = (json: string): string =>
  (json.match(/(?<="data": ")[^"]+/g) ?? []).map((data) => Buffer.from(data, 'base64').toString()).join('\n');
const openQuestion = async ({ runs }: TemporalClient, runId: string): Promise<string> => {
  const read = async () => (await runs.get(runId)).pending_question?.question_id ?? '';
  await expect.poll(read).toMatch(/:q\d$/);
  return read();
};

describe('a secret in a run', () => {
  it('reaches its tools exactly, and is in no file of Temporal or Postgres', async () => {
    const { client, store } = await clientWith(onlyA, 'secrets');
    await startWorker(onlyA, store, 'secrets');
    const { run_id } = await client.runs.start({
      agent: 'keeper_of_secrets',
      goal: `deploy with ${SECRET}`,
      plan: {
        steps: [
          { phase: 'p', tool: 'test.echo', input: { text: SECRET, fail: true } },
          { phase: 'p', tool: 'test.echo', input: { text: SECRET, large: true } },
          { phase: 'p', tool: 'test.asks', input: {} },
        ],
      },
    });
    const question_id = await openQuestion(client, run_id);
    await client.runs.feedback(run_id, { text: `mind ${SECRET}`, by: 'maria' });
    await client.runs.override(run_id, { override_fatigue: true, override_by: 'maria', override_reason: SECRET });
    await client.runs.answer(run_id, { question_id, decision: 'skip', text: `because of ${SECRET}`, by: 'maria' });
    const result = await client.runs.result(run_id);
    expect(result).toMatchObject({ outcome: 'completed' });

    expect(received).toContain(SECRET);
    const { rows } = await database.query<{ id: string; main_key: string; bytes: number }>(
      'select id, main_key, bytes::int from artifacts',
    );
    expect(new Set(rows.map((row) => row.main_key))).toEqual(new Set([keyA.mark]));
    const large = rows.find((row) => row.bytes > LARGE);
    const kept = Buffer.from((await store.artifacts.get(large?.id ?? ''))?.bytes ?? []).toString();
    expect(kept).toContain(`"said":"${SECRET}"`);
    expect(await filesWith('keeper_of_secrets')).not.toEqual([]);
    expect(await filesWith(SECRET)).toEqual([]);
  });
});

describe('a change of keys', () => {
  it('a run that was started with key a ends with the keys b and a', async () => {
    const { client: first, store } = await clientWith(onlyA, 'rotation');
    const stop = await startWorker(onlyA, store, 'rotation');
    const plan = { steps: [{ phase: 'p', tool: 'test.asks', input: {} }] };
    const { run_id } = await first.runs.start({ agent: 'keeper_of_secrets', goal: 'rotate', plan });
    const question_id = await openQuestion(first, run_id);
    await stop();

    const both = createEncryption([keyB, keyA]);
    const { client: second, store: secondStore } = await clientWith(both, 'rotation');
    await startWorker(both, secondStore, 'rotation');
    await second.runs.answer(run_id, { question_id, decision: 'skip', by: 'maria' });
    expect(await second.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    expect((await second.runs.list({})).runs.find((run) => run.run_id === run_id)?.goal).toBe('rotate');
    const events = await temporal('workflow', 'show', '--workflow-id', workflowIdOfRun(run_id), '--output', 'json');
    const marks = new Set(events.match(/"encryption-key-id": "[^"]+"/g));
    expect(marks.size).toBe(2);
  });

  it('a worker without the key says which key is missing, and the run goes on when a worker has it', async () => {
    const { client, store } = await clientWith(onlyA, 'keyless');
    const onlyB = createEncryption([keyB]);
    const { store: otherStore } = await clientWith(onlyB, 'keyless');
    const stop = await startWorker(onlyB, otherStore, 'keyless');
    const plan = { steps: [{ phase: 'p', tool: 'test.echo', input: { text: 'x' } }] };
    const { run_id } = await client.runs.start({ agent: 'keeper_of_secrets', goal: 'wait for the key', plan });
    const show = () => temporal('workflow', 'show', '--workflow-id', workflowIdOfRun(run_id), '--output', 'json');
    await expect.poll(show).toMatch(/encrypted with the key a, and this process has b\. Add the key a to/);
    const { why } = await client.runs.get(run_id);
    expect(why).toMatch(/Add the key a to SECONDWIND_ENCRYPTION_KEYS/);
    await stop();
    await startWorker(onlyA, store, 'keyless');
    expect(await client.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
  });
});

describe('the bare temporal command', () => {
  it('starts, signals and updates in plain JSON, and reads the answers', async () => {
    const { store } = await clientWith(onlyA, 'bare');
    await startWorker(onlyA, store, 'bare');
    const id = 'agent-run/bare-plain';
    const steps = [
      { phase: 'p', tool: 'test.asks', input: {} },
      { phase: 'p', tool: 'test.asks', input: {} },
    ];
    const input = JSON.stringify({ agent: 'keeper_of_secrets', goal: 'plain', plan: { steps } });
    const what = ['--type', 'agentRun', '--task-queue', 'bare', '--workflow-id', id, '--input', input];
    await temporal('workflow', 'start', ...what);
    const status = async (): Promise<RunStatus | undefined> => {
      const answer = await temporal('workflow', 'query', '--workflow-id', id, '--type', 'status', '--output', 'json');
      return (JSON.parse(answer) as { queryResult: RunStatus[] }).queryResult[0];
    };
    const question = async () => (await status())?.pending_question?.question_id ?? '';
    await expect.poll(question).toMatch(/:q1$/);
    expect(await status()).toMatchObject({ goal: 'plain', agent: 'keeper_of_secrets' });

    const answer = { question_id: await question(), decision: 'skip', by: 'cli' };
    const update = ['--workflow-id', id, '--name', 'answer'];
    const wrong = temporal('workflow', 'update', 'execute', ...update, '--input', '{"question_id":1}');
    await expect(wrong).rejects.toThrow(/\$\.question_id/);
    const given = ['--input', JSON.stringify(answer), '--output', 'json'];
    expect(await temporal('workflow', 'update', 'execute', ...update, ...given)).toMatch(/"accepted": ?true/);
    await expect.poll(question).toMatch(/:q2$/);
    const second = JSON.stringify({ ...answer, question_id: await question() });
    await temporal('workflow', 'signal', ...update, '--input', second);
    await expect.poll(async () => (await status())?.state).toBe('ended');
  });

  it('reads a history only with the codec of the API, as an operator', async () => {
    const { client, store } = await clientWith(onlyA, 'codec');
    await startWorker(onlyA, store, 'codec');
    const plan = { steps: [{ phase: 'p', tool: 'test.echo', input: { text: 'written in the history' } }] };
    const { run_id } = await client.runs.start({ agent: 'keeper_of_secrets', goal: 'read me', plan });
    await client.runs.result(run_id);
    const app = createApi({
      ...client,
      store,
      registry,
      tokens: [
        { role: 'operator', token: 'operator-token' },
        { role: 'viewer', token: 'viewer-token' },
      ],
      checks: { temporal: async () => null, store: async () => null },
      codec: { payloadCodec: createCodec(onlyA), origins: ['https://ui.example'] },
    });
    const served = await serveApi({ fetch: (request) => app.fetch(request) }, { host: '127.0.0.1', port: 0 });
    ends.push(() => served.close());
    const show = ['workflow', 'show', '--workflow-id', workflowIdOfRun(run_id), '--output', 'json'];
    expect(textsIn(await temporal(...show))).not.toContain('written in the history');
    const codec = ['--codec-endpoint', `${served.url}/codec`];
    const decoded = await temporal(...show, ...codec, '--codec-auth', 'Bearer operator-token');
    expect(textsIn(decoded)).toContain('written in the history');
    const viewer = { method: 'POST', headers: { authorization: 'Bearer viewer-token' }, body: '{"payloads":[]}' };
    expect((await fetch(`${served.url}/codec/decode`, viewer)).status).toBe(403);

    const asked = { method: 'OPTIONS', headers: { origin: 'https://ui.example' } };
    const preflight = await fetch(`${served.url}/codec/decode`, asked);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://ui.example');
    const foreign = await fetch(`${served.url}/codec/decode`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
  });
});
