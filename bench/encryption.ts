/** Measures what encryption costs: payloads in the codec, and whole runs on a stack that is started for the benchmark. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { z } from 'zod';
import { connectClient } from '../src/client/connect.ts';
import { createClient } from '../src/client/create-client.ts';
import { createCodec } from '../src/client/payload-codec.ts';
import { defineAgent } from '../src/define/define-agent.ts';
import { defineTool } from '../src/define/define-tool.ts';
import { createRegistry } from '../src/define/registry.ts';
import { createEncryption, type Encryption } from '../src/encryption/encryption.ts';
import { mainKey } from '../src/encryption/main-key.ts';
import { type Stack, startStack } from '../src/stack/start-stack.ts';
import { migrateToLatest } from '../src/store/migrate.ts';
import { createStore } from '../src/store/store.ts';
import { bundleWorkflows } from '../src/worker/bundle-workflows.ts';
import { createWorker } from '../src/worker/create-worker.ts';
import type { Figures } from './report.ts';

/** Runs at once. More would measure the queue of the server. */
const AT_ONCE = 10;
const OUTPUT_CHARS = 2_000;

const look = defineTool({
  name: 'bench.look',
  effect: 'read',
  input: z.object({ at: z.int() }),
  output: z.json(),
  run: async ({ at }) => ({ at, text: 'x'.repeat(OUTPUT_CHARS) }),
});
const plan = { steps: [1, 2, 3].map((at) => ({ phase: 'look', tool: 'bench.look', input: { at } })) };
const registry = createRegistry([defineAgent({ name: 'looker', tools: [look], plan })]);
const encrypting = createEncryption([mainKey('bench', new Uint8Array(32).fill(7))]);

export async function benchEncryption(quick: boolean): Promise<Figures> {
  return { ...(await measureCodec(quick ? 2_000 : 20_000)), ...(await measureRuns(quick)) };
}

/** One payload of 2 KB there and back, with and without encryption, in microseconds. */
async function measureCodec(times: number): Promise<Figures> {
  const payload = defaultPayloadConverter.toPayload({ text: 'x'.repeat(OUTPUT_CHARS) });
  const context = { type: 'workflow', namespace: 'default', workflowId: 'agent-run/bench' } as const;
  const micros = async (encryption: Encryption): Promise<number> => {
    const codec = createCodec(encryption);
    const began = performance.now();
    for (let n = 0; n < times; n += 1) await codec.decode(await codec.encode([payload], context), context);
    return ((performance.now() - began) * 1000) / times;
  };
  await micros(encrypting);
  return { payload_plain_us: await micros(createEncryption([])), payload_encrypted_us: await micros(encrypting) };
}

interface Side {
  runMany(count: number): Promise<number>;
  close(): Promise<void>;
}

/** Both sides take short turns on one stack, and change who begins, so that a busy machine is the same for both. */
async function measureRuns(quick: boolean): Promise<Figures> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-bench-'));
  const stack = await startStack({ dataDir: join(folder, 'data') });
  try {
    await migrateToLatest(stack.databaseUrl);
    const bundlePath = await bundleWorkflows(folder);
    const plain = await openSide(stack, bundlePath, 'plain', createEncryption([]));
    const encrypted = await openSide(stack, bundlePath, 'encrypted', encrypting);
    const count = 20;
    const rounds = quick ? 4 : 40;
    for (const side of [plain, encrypted, plain, encrypted]) await side.runMany(count);
    const seconds = { plain: [] as number[], encrypted: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? (['plain', 'encrypted'] as const) : (['encrypted', 'plain'] as const);
      for (const name of order) seconds[name].push(await { plain, encrypted }[name].runMany(count));
    }
    await plain.close();
    await encrypted.close();
    const rate = (taken: number[]): number => count / median(taken);
    return {
      runs_per_s_plain: rate(seconds.plain),
      runs_per_s_encrypted: rate(seconds.encrypted),
      runs_per_s_encrypted_to_plain: median(
        seconds.plain.map((taken, round) => taken / (seconds.encrypted[round] ?? 1)),
      ),
    };
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openSide(
  stack: Stack,
  workflowBundlePath: string,
  taskQueue: string,
  encryption: Encryption,
): Promise<Side> {
  const { temporalAddress: address, namespace, databaseUrl } = stack;
  const store = createStore({ databaseUrl, encryption });
  const connection = await NativeConnection.connect({ address });
  const worker = await createWorker({
    connection,
    namespace,
    registry,
    store,
    taskQueue,
    workflowBundlePath,
    encryption,
  });
  const running = worker.run();
  const temporal = await connectClient({ address, namespace, env: {}, encryption });
  const { runs } = createClient({ temporal, registry, store, taskQueue, searchAttributes: false });
  const runOne = async (): Promise<void> => {
    const { run_id } = await runs.start({ agent: 'looker', goal: 'look three times' });
    const { outcome } = await runs.result(run_id);
    if (outcome !== 'completed') throw new Error(`A run of the benchmark ended ${outcome}.`);
  };
  return {
    runMany: async (count) => {
      const began = performance.now();
      let left = count;
      const takeTurns = async (): Promise<void> => {
        while ((left -= 1) >= 0) await runOne();
      };
      await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
      return (performance.now() - began) / 1000;
    },
    close: async () => {
      worker.shutdown();
      await running;
      await Promise.all([connection.close(), temporal.connection.close(), store.close()]);
    },
  };
}

const median = (values: number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
