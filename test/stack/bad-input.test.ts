/**
 * What is wrong with a request is told before anything starts: by path, and with no workflow left behind. Needs the
 * shared stack. Every kind of refusal is in test/unit/define/prepare-run.test.ts; runs that come past our doors are in
 * test/stack/temporal-cli.test.ts.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunExistsError, RunNotFoundError, RunRequestError, SecondwindError } from '../../src/protocol/errors.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { CAP } from '../../src/protocol/caps.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import type { PlanStep } from '../../src/protocol/schemas/plan.ts';

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([demoAgent]);
  await world.startWorker();
});
afterAll(() => world.close());

const step = (over: object = {}): PlanStep => ({ phase: 'p', tool: 'demo.flaky', input: { fail_times: 0 }, ...over });
const plan = (...steps: PlanStep[]) => ({ plan: { steps } });
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
};
const thrownBy = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const bad: [string, object, string][] = [
  ['an unknown agent', { agent: 'deno' }, '$.agent'],
  ['an unknown tool', plan(step({ tool: 'demo.flacky' })), '$.plan.steps[0].tool'],
  ['an empty plan', plan(), '$.plan.steps'],
  ['a circle', plan(step({ id: 'a', after: ['b'] }), step({ id: 'b', after: ['a'] })), '$.plan.steps[0].after'],
  ['an id used twice', plan(step({ id: 'a' }), step({ id: 'a' })), '$.plan.steps[1].id'],
  ['a $step that names no earlier step', plan(step({ input: { $step: 'z' } })), '$.plan.steps[0].input'],
  ['an input that fails its schema', plan(step({ input: { fail_times: 'x' } })), '$.plan.steps[0].input.fail_times'],
  ['a payload over the cap', { input: 'x'.repeat(CAP.runInputBytes) }, '$'],
  ['10,000 levels of JSON', { input: nested(10_000) }, '$.input.a'],
  ['3,000 levels of JSON', plan(step({ input: nested(3_000) })), '$.plan.steps[0].input.a'],
  ['a typo in the policy', { policy: { budget: { max_atempts: 1 } } }, '$.policy.budget.max_atempts'],
  ['a value out of range', { policy: { retry: { network: 21 } } }, '$.policy.retry.network'],
  ['a loop_id that marks a rerun', { loop_id: 'work_r1' }, '$.loop_id'],
];

describe('a request that cannot be run', () => {
  it.each(bad)('is refused by its path and starts nothing: %s', async (_what, over, path) => {
    const run_id = world.newRunId('bad');
    const error = await thrownBy(world.runs.start({ agent: 'demo', goal: 'g', run_id, ...over }));
    expect(error).toBeInstanceOf(RunRequestError);
    expect((error as RunRequestError).problems[0]?.path.startsWith(path)).toBe(true);
    expect((error as RunRequestError).nextStep).not.toBe('');
    const handle = world.client.workflow.getHandle(workflowIdOfRun(run_id));
    await expect(handle.describe()).rejects.toBeInstanceOf(WorkflowNotFoundError);
    await expect(world.runs.get(run_id)).rejects.toBeInstanceOf(RunNotFoundError);
  });

  it.each([['a b'], [''], ['-first'], ['a/b'], ['x'.repeat(129)]])(
    'is refused when its run_id is "%s"',
    async (run_id) => {
      const error = await thrownBy(world.runs.start({ agent: 'demo', goal: 'g', run_id }));
      expect(error).toBeInstanceOf(RunRequestError);
      expect((error as RunRequestError).problems).toMatchObject([{ path: '$.run_id' }]);
    },
  );

  it('leaves nothing behind in the lists either', async () => {
    const run_id = world.newRunId('sentinel');
    await world.runs.start({ agent: 'demo', goal: 'g', run_id, ...plan(step()) });
    const listed = async (): Promise<string[]> => {
      const ids: string[] = [];
      const query = `TaskQueue = '${world.taskQueue}' AND StartTime <= '${new Date().toISOString()}'`;
      for await (const found of world.client.workflow.list({ query })) ids.push(found.workflowId);
      return ids;
    };
    // The lists are written a moment later; once the last start is there, an earlier one would be too.
    await expect.poll(listed, { timeout: 15_000 }).toContain(workflowIdOfRun(run_id));
    expect(await listed()).toEqual([workflowIdOfRun(run_id)]);
  });
});

describe('a request just inside the limits', () => {
  it('runs: a plan as large as the cap allows, almost', async () => {
    const run_id = world.newRunId('large');
    const output = { text: 'x'.repeat(CAP.runInputBytes / 3 - 200) };
    const steps = [1, 2, 3].map(() => step({ input: { fail_times: 0, output } }));
    await world.runs.start({ agent: 'demo', goal: 'g', run_id, ...plan(...steps) });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', used: { steps: 3 } });
  });

  it('runs: a run_id that looks like a rerun', async () => {
    const run_id = `${world.newRunId('again')}_r1`;
    await world.runs.start({ agent: 'demo', goal: 'g', run_id, ...plan(step()) });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', loops: 1 });
  });

  it('runs: a run_id of 128 characters', async () => {
    const run_id = world.newRunId('long').padEnd(128, 'x');
    await world.runs.start({ agent: 'demo', goal: 'g', run_id, policy: { retry: { base_ms: 1 } } });
    expect(await world.runs.result(run_id)).toMatchObject({ run_id, outcome: 'completed', failures: { total: 1 } });
    expect(await world.store.records.forRun(run_id)).toHaveLength(1);
  });
});

describe('a run_id', () => {
  it('belongs to one run for ever: a second start is refused while it runs and after it has ended', async () => {
    const request = { agent: 'demo', goal: 'g', run_id: world.newRunId('taken'), ...plan(step()) };
    await world.runs.start(request);
    await expect(world.runs.start(request)).rejects.toBeInstanceOf(RunExistsError);
    await world.runs.result(request.run_id);
    await expect(world.runs.start(request)).rejects.toBeInstanceOf(RunExistsError);
  });

  it('is made up when none is given, and then differs each time', async () => {
    const request = { agent: 'demo', goal: 'g', ...plan(step()) };
    const one = await world.runs.start(request);
    const other = await world.runs.start(request);
    expect(one.run_id).not.toBe(other.run_id);
    expect(one.workflow_id).toBe(workflowIdOfRun(one.run_id));
  });
});

describe('an idempotency key', () => {
  const request = { agent: 'demo', goal: 'g', labels: ['k'], ...plan(step()) };

  it('gives the same run for the same request, however its keys are ordered, also at the same time', async () => {
    const idempotencyKey = world.newRunId('key');
    const reordered = Object.fromEntries(Object.entries(request).reverse()) as unknown as typeof request;
    const started = await Promise.all(
      [request, reordered, request, reordered].map((body) => world.runs.start(body, { idempotencyKey })),
    );
    expect(new Set(started.map((run) => run.run_id)).size).toBe(1);
    const runId = started[0]?.run_id ?? '';
    await world.runs.result(runId);
    expect((await world.runs.start(request, { idempotencyKey })).run_id).toBe(runId);
  });

  it('is refused with another request, and the first run stays as it is', async () => {
    const idempotencyKey = world.newRunId('key');
    const { run_id } = await world.runs.start(request, { idempotencyKey });
    const error = await thrownBy(world.runs.start({ ...request, goal: 'another' }, { idempotencyKey }));
    expect(error).toBeInstanceOf(SecondwindError);
    expect(error).toMatchObject({ code: 'idempotency_conflict', nextStep: expect.stringContaining('new key') });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
  });

  it('with another key the same request is another run', async () => {
    const [one, other] = await Promise.all(
      ['a', 'b'].map((key) => world.runs.start(request, { idempotencyKey: world.newRunId(key) })),
    );
    expect(one?.run_id).not.toBe(other?.run_id);
  });

  it('does not make a bad request a good one', async () => {
    const idempotencyKey = world.newRunId('key');
    await expect(world.runs.start({ ...request, plan: { steps: [] } }, { idempotencyKey })).rejects.toBeInstanceOf(
      RunRequestError,
    );
    // And the key is still free.
    expect((await world.runs.start(request, { idempotencyKey })).run_id).toMatch(/^run-/);
  });
});
