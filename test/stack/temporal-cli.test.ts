/**
 * Runs without any client of ours: the `temporal` program and plain gRPC against the documented names. Needs the shared
 * stack and its `temporal` program. Does not test the program itself.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunState } from '../../src/core/run/state.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import type { RunResult, RunStatus } from '../../src/protocol/run.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { temporalCli } from '../support/stack.ts';

/** Waits until the test opens the gate of its run. */
const gates = new Map<string, { reached: PromiseWithResolvers; open: PromiseWithResolvers }>();
interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve: () => void;
}
function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
const gateOf = (name: string) => {
  const known = gates.get(name) ?? { reached: withResolvers(), open: withResolvers() };
  gates.set(name, known);
  return known;
};
const gated = defineTool({
  name: 'test.gated',
  effect: 'read',
  input: z.object({ gate: z.string() }),
  output: z.json(),
  timeoutMs: 20_000,
  run: async ({ gate }, { signal }) => {
    gateOf(gate).reached.resolve();
    await Promise.race([
      gateOf(gate).open.promise,
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    ]);
    return { passed: gate };
  },
});

let world: RunWorld;
let program: string;
beforeAll(async () => {
  program = await temporalCli();
  world = await openRunWorld([demoAgent, defineAgent({ name: 'gatekeeper', tools: [gated] })]);
  await world.startWorker();
});
afterAll(() => world.close());

async function temporal(...args: string[]): Promise<string> {
  const where = ['--address', inject('temporalAddress'), '--namespace', inject('namespace')];
  const { stdout } = await promisify(execFile)(program, [...args, ...where], { maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

const workflowId = (runId: string) => `agent-run/${runId}`;
const ofRun = (runId: string) => ['--workflow-id', workflowId(runId)];

async function start(runId: string, input: string | null, id = workflowId(runId)): Promise<void> {
  const what = ['--type', 'agentRun', '--task-queue', world.taskQueue, '--workflow-id', id];
  await temporal('workflow', 'start', ...what, ...(input === null ? [] : ['--input', input]));
}

const signal = (runId: string, name: string, body: string) =>
  temporal('workflow', 'signal', ...ofRun(runId), '--name', name, '--input', body);

async function query<T>(runId: string, type: string): Promise<T> {
  const answer = await temporal('workflow', 'query', ...ofRun(runId), '--type', type, '--output', 'json');
  const [result] = (JSON.parse(answer) as { queryResult: T[] }).queryResult;
  if (result === undefined) throw new Error(`no answer to ${type}`);
  return result;
}

/** What `temporal workflow result` shows to whoever started the run. */
async function result(runId: string, id = workflowId(runId)): Promise<RunResult> {
  const answer = await temporal('workflow', 'result', '--workflow-id', id, '--output', 'json');
  return (JSON.parse(answer) as { result: RunResult }).result;
}

const openQuestion = async (runId: string): Promise<string> => {
  const read = async () => (await query<RunStatus>(runId, 'status')).pending_question?.question_id ?? '';
  await expect.poll(read, { timeout: 15_000 }).toMatch(/:q\d$/);
  return read();
};

const gatedRun = (runId: string, options: object = {}) =>
  JSON.stringify({
    agent: 'gatekeeper',
    goal: 'wait at the gate',
    plan: {
      steps: [
        { phase: 'p', tool: 'test.gated', input: { gate: runId } },
        { phase: 'p', tool: 'test.gated', input: { gate: runId } },
      ],
    },
    ...options,
  });

describe('from the bare temporal command', () => {
  it('a run is started with bare JSON, prepared by a worker, and ends with its result', async () => {
    const runId = world.newRunId('bare');
    await start(runId, '{"agent":"demo","goal":"fail once"}');
    expect(await result(runId)).toMatchObject({
      run_id: runId,
      outcome: 'completed',
      used: { steps: 1, attempts: 2 },
      failures: { total: 1 },
    });
    expect(await query<RunStatus>(runId, 'status')).toMatchObject({ run_id: runId, state: 'ended', goal: 'fail once' });
  });

  it('a run answers its queries, takes feedback, an override and an answer by signal', async () => {
    const runId = world.newRunId('signals');
    await start(
      runId,
      JSON.stringify({
        agent: 'demo',
        goal: 'ask',
        plan: { steps: [{ phase: 'p', tool: 'demo.flaky', input: { fail_times: 1, error_code: 'auth' } }] },
      }),
    );
    const question = await openQuestion(runId);
    expect(await query<RunStatus>(runId, 'status')).toMatchObject({
      state: 'waiting_for_human',
      pending_question: { options: ['retry', 'correct', 'skip', 'stop'] },
    });
    await signal(runId, 'feedback', '{"text":"take your time","by":"ada"}');
    await signal(runId, 'override', '{"override_max_reruns":true,"override_by":"ada"}');
    expect(await query(runId, 'failures')).toMatchObject({ failures: [{ tool_name: 'demo.flaky' }] });
    expect(await query(runId, 'trace')).toEqual({ trace: expect.any(Array) });
    expect(await query(runId, 'guardrails')).toMatchObject({ loop_id: `loop_${runId}` });
    await signal(runId, 'answer', JSON.stringify({ question_id: question, decision: 'retry', by: 'ada' }));
    expect(await result(runId)).toMatchObject({ outcome: 'completed', used: { attempts: 2 } });
  });

  it('an answer by update is checked and answered', async () => {
    const runId = world.newRunId('update');
    await start(
      runId,
      JSON.stringify({
        agent: 'demo',
        goal: 'ask',
        plan: { steps: [{ phase: 'p', tool: 'demo.flaky', input: { fail_times: 9, error_code: 'auth' } }] },
      }),
    );
    const question_id = await openQuestion(runId);
    const update = (body: object) =>
      temporal('workflow', 'update', 'execute', ...ofRun(runId), '--name', 'answer', '--input', JSON.stringify(body));
    await expect(update({ question_id, decision: 'perhaps', by: 'ada' })).rejects.toThrow(/\$\.decision/);
    expect(await update({ question_id, decision: 'stop', by: 'ada' })).toMatch(/accepted.{0,8}true/);
    expect(await result(runId)).toMatchObject({ outcome: 'finalized', reason: 'stopped_by_human' });
  });

  it('temporal workflow cancel ends a run with its summary', async () => {
    const runId = world.newRunId('cancel');
    await start(runId, gatedRun(runId));
    await gateOf(runId).reached.promise;
    await temporal('workflow', 'cancel', ...ofRun(runId));
    const handle = world.client.workflow.getHandle(workflowId(runId));
    await expect.poll(async () => (await handle.describe()).status.name, { timeout: 15_000 }).toBe('CANCELLED');
    expect(await query<RunResult>(runId, 'result')).toMatchObject({ outcome: 'cancelled', run_id: runId });
  });
});

describe('a start past our doors that cannot be run', () => {
  it.each([
    ['an unknown tool', { plan: { steps: [{ phase: 'p', tool: 'demo.flakey', input: {} }] } }, '$.plan.steps[0].tool'],
    ['an empty plan', { plan: { steps: [] } }, '$.plan.steps'],
    ['an unknown agent', { agent: 'domo' }, '$.agent'],
    ['a policy with a typo', { policy: { budget: { max_stepz: 1 } } }, '$.policy.budget.max_stepz'],
    [
      'an input that fails its schema',
      { plan: { steps: [{ phase: 'p', tool: 'demo.flaky', input: { fail_times: -1 } }] } },
      '$.plan.steps[0].input.fail_times',
    ],
  ])('ends system_error and names the place: %s', async (_what, over, path) => {
    const runId = world.newRunId('bad');
    await start(runId, JSON.stringify({ agent: 'demo', goal: 'g', ...over }));
    const ended = await result(runId);
    expect(ended).toMatchObject({ outcome: 'system_error', reason: 'bad_request' });
    expect(ended.why).toContain(`${path}: `);
    expect((await world.store.archivedRuns.get(runId))?.outcome).toBe('system_error');
  });

  it.each([
    ['no input at all', null],
    ['null', 'null'],
    ['a text', '"demo"'],
    ['a list', '[]'],
    ['an empty object', '{}'],
  ])('ends system_error instead of hanging: %s', async (_what, input) => {
    const runId = world.newRunId('odd');
    await start(runId, input);
    expect(await result(runId)).toMatchObject({ outcome: 'system_error', reason: 'bad_request' });
  });

  it('ends instead of hanging under an id that no run may have', async () => {
    const id = `agent-run/${world.newRunId('id')} ü`;
    await start('', '{"agent":"demo","goal":"g"}', id);
    const ended = await result('', id);
    expect(ended).toMatchObject({ outcome: 'system_error', reason: 'bad_request' });
    expect(ended.why).toContain('$.run_id: ');
  });

  it.each(['plain-id', 'rerun_r1'])('runs under any other workflow id, which is then the run’s: %s', async (name) => {
    const id = `${world.newRunId('x')}-${name}`;
    await start(id, '{"agent":"demo","goal":"g","policy":{"retry":{"base_ms":1}}}', id);
    expect(await result(id, id)).toMatchObject({ run_id: id, outcome: 'completed' });
  });
});

describe('a signal that nobody can use never stops a run', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const raw = (encoding: string | null, data: Uint8Array) => {
    const metadata: Record<string, Uint8Array> = encoding === null ? {} : { encoding: bytes(encoding) };
    return { metadata, data };
  };
  const manyKeys = () => {
    const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`);
    return bytes(`{${keys.join(',')}}`);
  };
  const deep = () => bytes(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);

  const payloads: [string, () => ReturnType<typeof raw>[]][] = [
    ['no payload', () => []],
    ['an encoding that nobody knows', () => [raw('binary/encrypted', bytes('secret'))]],
    ['an encoding that the SDK knows and we do not', () => [raw('json/protobuf', bytes('{}'))]],
    ['a protobuf message', () => [raw('binary/protobuf', new Uint8Array([8, 1]))]],
    ['no encoding', () => [raw(null, bytes('{}'))]],
    ['half a JSON', () => [raw('json/plain', bytes('{"text": "cut'))]],
    ['bytes that are no UTF-8', () => [raw('json/plain', new Uint8Array([0xff, 0xfe, 0xfd]))]],
    ['a megabyte of bytes', () => [raw('binary/plain', new Uint8Array(1_000_000))]],
    ['100,000 keys', () => [raw('json/plain', manyKeys())]],
    ['100,000 levels', () => [raw('json/plain', deep())]],
    ['two bodies', () => [raw('json/plain', bytes('{}')), raw('json/plain', bytes('{"text":"x","by":"ada"}'))]],
    ['a text', () => [raw('json/plain', bytes('"hello"'))]],
    ['a field too many', () => [raw('json/plain', bytes('{"text":"x","by":"ada","__proto__":1,"extra":1}'))]],
    [
      'a text that is too long',
      () => [raw('json/plain', bytes(JSON.stringify({ text: 'x'.repeat(50_000), by: 'a' })))],
    ],
  ];

  it.each(payloads)('%s', async (_what, payloadsOf) => {
    const runId = world.newRunId('signal');
    // Handed over after the first step, so that what the run carries can be seen from outside.
    await start(runId, gatedRun(runId, { options: { hand_over_after_events: 12 } }));
    await gateOf(runId).reached.promise;
    await world.client.workflowService.signalWorkflowExecution({
      namespace: inject('namespace'),
      workflowExecution: { workflowId: workflowId(runId) },
      signalName: 'feedback',
      input: { payloads: payloadsOf() },
    });
    gateOf(runId).open.resolve();
    expect(await result(runId)).toMatchObject({ outcome: 'completed', used: { steps: 2 } });
    expect(await carriedState(runId)).toMatchObject({
      people: { feedback: [], ignored: [{ type: 'feedback', reason: expect.stringMatching(/^\$/) }] },
    });
  });

  /** The state with which the last execution took over from the one before. */
  async function carriedState(runId: string): Promise<RunState> {
    const history = await world.client.workflow.getHandle(workflowId(runId)).fetchHistory();
    const [payload] = history.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    return (JSON.parse(new TextDecoder().decode(payload?.data ?? new Uint8Array())) as { state: RunState }).state;
  }

  it('a signal with a name that nobody knows', async () => {
    const runId = world.newRunId('name');
    await start(runId, gatedRun(runId));
    await gateOf(runId).reached.promise;
    await signal(runId, 'no_such_signal', '{"a":1}');
    gateOf(runId).open.resolve();
    expect(await result(runId)).toMatchObject({ outcome: 'completed' });
  });
});
