/**
 * A side effect that happened and then failed, in every way that was seen to repeat it: it happens once and a person is
 * asked once. A receiver counts what arrives. Needs Temporal and Postgres.
 */
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { commandTool } from '../../src/define/command/command-tool.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { httpTool } from '../../src/define/http/http-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import type { Json } from '../../src/protocol/json.ts';
import { eventually } from '../support/eventually.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

/** Counts what it is told to do, by order, and then answers with the status that the path names. */
const effects = new Map<string, number>();
/** How often each order was refused: a refusal has no effect. */
const refusals = new Map<string, number>();
let receiver: Server;
let url = '';

const orderInput = z.object({ order: z.string() });
const post = (order: string): Promise<Response> => fetch(`${url}/200/${order}`, { method: 'POST' });

/** A function tool that has its effect and then throws. */
const thrower = (name: string, fail: () => never) =>
  defineTool({
    name,
    effect: 'side_effect',
    input: orderInput,
    output: z.string(),
    run: async ({ order }) => {
      await post(order);
      return fail();
    },
  });
const raise = (error: unknown): never => {
  throw error;
};

const answering = (name: string, status: number, options: { refusals?: number[] } = {}) =>
  httpTool({
    name,
    effect: 'side_effect',
    input: orderInput,
    allowPrivate: ['127.0.0.1'],
    request: ({ order }) => ({ method: 'POST', url: `${url}/${status}/${order}` }),
    ...options,
  });

const paying = (name: string, then: string, options: { refusals?: number[]; protocol?: boolean } = {}) =>
  commandTool({
    name,
    effect: 'side_effect',
    input: orderInput,
    env: { set: () => ({ RECEIVER: url }) },
    argv: ({ order }) => [
      process.execPath,
      '-e',
      `fetch(process.env.RECEIVER + '/200/${order}', { method: 'POST' }).then(() => { ${then} })`,
    ],
    ...options,
  });

/** Wraps a tool that knows its own request: what it knows is not about the effect before it. */
const refused = answering('inner.refused', 422);
const wrapping = defineTool({
  name: 'wraps',
  effect: 'side_effect',
  input: orderInput,
  output: z.unknown(),
  run: async ({ order }, context) => {
    await post(order);
    return refused.run({ order: `${order}-inner` }, context);
  },
});

const unknown = [
  thrower('throws.error', () => raise(new Error('the receipt could not be printed'))),
  thrower('throws.type_error', () => raise(new TypeError("Cannot read properties of undefined (reading 'id')"))),
  thrower('throws.parse_error', () => JSON.parse('<html>') as never),
  thrower('throws.terminated', () => raise(new TypeError('terminated', { cause: { code: 'UND_ERR_SOCKET' } }))),
  thrower('throws.unavailable', () => raise(Object.assign(new Error('14 UNAVAILABLE: no upstream'), { code: 14 }))),
  thrower('throws.refused', () => raise(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))),
  thrower('throws.429', () => raise(Object.assign(new Error('slow down'), { status: 429 }))),
  thrower('throws.not_started', () => raise(Object.assign(new Error('no'), { certainty: 'not_started' }))),
  thrower('throws.tool_error', () => raise(new ToolError('slow down', { category: 'rate_limit' }))),
  wrapping,
  answering('http.500', 500),
  answering('http.503', 503),
  answering('http.408', 408),
  answering('http.409', 409),
  paying(
    'command.report',
    `require('node:fs').writeFileSync(process.env.SECONDWIND_REPORT_DIR + '/x-FAILURE-REPORT.json', '{"missing": ["grounding"]}')`,
    { protocol: true },
  ),
  paying('command.exit_1', 'process.exit(1)'),
  paying('command.exit_75', 'process.exit(75)'),
  paying('command.killed', 'process.kill(process.pid, "SIGKILL")'),
];
const certain = [
  answering('http.429', 429),
  answering('http.listed', 503, { refusals: [503] }),
  defineTool({
    name: 'states.failed',
    effect: 'side_effect',
    input: orderInput,
    output: z.string(),
    run: async ({ order }) => {
      const answer = await fetch(`${url}/429/${order}`, { method: 'POST' });
      if (answer.ok) return 'paid';
      throw new ToolError('slow down', { category: 'rate_limit', certainty: 'failed' });
    },
  }),
  commandTool({
    name: 'command.listed',
    effect: 'side_effect',
    input: orderInput,
    refusals: [3],
    env: { set: () => ({ RECEIVER: url }) },
    argv: ({ order }) => [
      process.execPath,
      '-e',
      `fetch(process.env.RECEIVER + '/429/${order}', { method: 'POST' }).then((r) => process.exit(r.ok ? 0 : 3))`,
    ],
  }),
  commandTool({
    name: 'command.protocol',
    effect: 'side_effect',
    input: orderInput,
    protocol: true,
    env: { set: () => ({ RECEIVER: url }) },
    argv: ({ order }) => [
      process.execPath,
      '-e',
      `fetch(process.env.RECEIVER + '/429/${order}', { method: 'POST' }).then((r) => process.exit(r.ok ? 0 : 1))`,
    ],
  }),
];
/** Does not look at its signal, acts after its timeout and the usual grace of 3 s, and can find out whether it has acted. */
const deaf = defineTool({
  name: 'acts.late',
  effect: 'side_effect',
  input: orderInput,
  output: z.string(),
  timeoutMs: 200,
  run: async ({ order }) => {
    await sleep(4_500);
    await post(order);
    return 'paid';
  },
  reconcile: ({ order }) =>
    (effects.get(order) ?? 0) > 0 ? { verdict: 'done', output: 'paid' } : { verdict: 'not_done' },
});
const agent = defineAgent({ name: 'payer', tools: [...unknown, ...certain, deaf] });

let world: RunWorld;
beforeAll(async () => {
  receiver = createServer((asked, answer) => {
    const [, status = '200', order = ''] = (asked.url ?? '').split('/');
    const isRefusal = status === '429' || (status === '503' && order.includes('listed')) || order.endsWith('-inner');
    // It refuses each order twice and then does it.
    const before = refusals.get(order) ?? 0;
    const refuses = isRefusal && before < 2;
    if (refuses) refusals.set(order, before + 1);
    else effects.set(order, (effects.get(order) ?? 0) + 1);
    answer.writeHead(isRefusal && !refuses ? 200 : Number(status)).end('done');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  world = await openRunWorld([agent]);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const policy = { retry: { base_ms: 1, max_wait_ms: 50 }, memory: { scope: 'run' as const } };
const start = async (tool: string): Promise<{ runId: string; order: string }> => {
  const runId = world.newRunId('effect');
  const order = `${runId}-${tool}`;
  const plan = { steps: [{ phase: 'work', tool, input: { order } as Json }] };
  await world.runs.start({ agent: 'payer', goal: 'pay once', run_id: runId, plan, policy });
  return { runId, order };
};

describe('an effect that happened before the error', () => {
  it.concurrent.each(unknown.map(({ name }) => name))('happens once, and a person is asked once: %s', async (tool) => {
    const { runId, order } = await start(tool);
    const question = await eventually(
      async () => (await world.runs.get(runId)).pending_question,
      (open) => open !== undefined,
    );
    await world.runs.answer(runId, { question_id: question?.question_id ?? '', decision: 'stop', by: 'ada' });
    const { questions, used } = await world.runs.result(runId);
    expect({ effects: effects.get(order), questions, attempts: used.attempts }).toEqual({
      effects: 1,
      questions: 1,
      attempts: 1,
    });
  });
});

describe('a timeout that the tool ignores', () => {
  it('reconcile is asked when the attempt has really ended, so that the effect happens once; why says so', async () => {
    const { runId, order } = await start('acts.late');
    await eventually(
      async () => (await world.runs.get(runId)).why,
      (why) => why === 'Waiting for step 1 (acts.late) to stop: its time is over, and it may still act.',
    );
    expect(await world.runs.result(runId)).toMatchObject({ outcome: 'completed', questions: 0, used: { attempts: 1 } });
    expect(effects.get(order)).toBe(1);
  });
});

describe('a refusal that is known to have had no effect', () => {
  it.concurrent.each(certain.map(({ name }) => name))(
    'is tried again, and the effect happens once: %s',
    async (tool) => {
      const { runId, order } = await start(tool);
      const { outcome, questions, used } = await world.runs.result(runId);
      expect({ outcome, questions, attempts: used.attempts, effects: effects.get(order) }).toEqual({
        outcome: 'completed',
        questions: 0,
        attempts: 3,
        effects: 1,
      });
    },
  );
});
