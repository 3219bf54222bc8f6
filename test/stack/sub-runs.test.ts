/** Runs that work for other runs, as child workflows on a real Temporal and Postgres. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../src/define/agent-tool.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { scriptedPlanner } from '../../src/testing.ts';
import { eventually } from '../support/eventually.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const json = { input: z.json(), output: z.json() };
const look = defineTool({ name: 'look', effect: 'read', ...json, run: (input) => ({ seen: input }) });
const locked = defineTool({
  name: 'locked',
  effect: 'read',
  ...json,
  run: (_input, { attempt }) => {
    if (attempt === 1) throw new ToolError('the door is locked', { category: 'auth', code: 'LOCKED' });
    return 'open';
  },
});
const wait = defineTool({
  name: 'wait',
  effect: 'read',
  ...json,
  run: (_input, { signal }) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
});

const helper = (name: string, tool: string) =>
  defineAgent({
    name,
    tools: [look, locked, wait],
    planner: scriptedPlanner(({ turn, input }) =>
      turn === 1
        ? { calls: [{ tool, input: input ?? 0 }], tokens: 100 }
        : { calls: [], output: { by: name }, tokens: 10 },
    ),
    policy: { retry: { base_ms: 1 }, failures: { escalate_at: 1 } },
  });
const asker = (name: string, ask: string) =>
  defineAgent({
    name,
    tools: [agentTool(helper(ask, name))],
    planner: scriptedPlanner(({ turn }) =>
      turn === 1 ? { calls: [{ tool: ask, input: { goal: `${ask} it`, input: 7 } }] } : { calls: [], output: 'asked' },
    ),
    policy: { reruns: { max_reruns: 0 } },
  });

const plain = defineAgent({ name: 'plain', tools: [look, wait] });
const plan = (...tools: string[]) => ({ steps: tools.map((tool) => ({ phase: 'work', tool, input: 1 })) });

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([plain, asker('look', 'looker'), asker('locked', 'opener'), asker('wait', 'waiter')]);
  await world.startWorker();
});
afterAll(() => world.close());

const start = async (agent: string) => {
  const run_id = world.newRunId(agent);
  await world.runs.start({ agent, goal: 'have it done', run_id });
  return { run_id, sub: `${run_id}.s1.a1` };
};
/** There once the child has been started. */
const statusOf = (runId: string) => world.runs.get(runId).catch(() => null);

describe('a step that another agent does', { timeout: 60_000 }, () => {
  it('is a run of its own, whose use is the parent’s', async () => {
    const { run_id, sub } = await start('look');
    const result = await world.runs.result(run_id);
    expect(result).toMatchObject({ outcome: 'completed', result: { output: 'asked' } });
    // Two steps and two attempts: its own and the helper's; two turns each.
    expect(result.used).toMatchObject({ steps: 2, attempts: 2, model_calls: 4, tokens: 110 });
    const helped = await world.runs.result(sub);
    expect(helped).toMatchObject({ agent: 'looker', outcome: 'completed', result: { output: { by: 'looker' } } });
    expect(helped.used).toMatchObject({ steps: 1, attempts: 1, model_calls: 2, tokens: 110 });
    // Half of what its parent had left bounds it.
    expect(helped.bound).toMatchObject({ steps: 24, attempts: 59, model_calls: 39 });
  });

  it('is listed among the parent’s steps, and its own under its id', async () => {
    const { run_id, sub } = await start('look');
    await world.runs.result(run_id);
    const steps = await world.runs.steps(run_id);
    expect(steps).toMatchObject([{ step_id: 1, tool: 'looker', attempts: [{ attempt: 1, outcome: 'ok' }] }]);
    expect(await world.runs.steps(sub)).toMatchObject([{ step_id: 1, tool: 'look' }]);
    const events: string[] = [];
    for await (const event of world.runs.watch(run_id)) events.push(event.event);
    expect(events).toEqual(['run_started', 'step_started', 'attempt_ended', 'review', 'decision', 'run_ended']);
  });

  it('may ask people, who find the question under its own id', async () => {
    const { run_id, sub } = await start('locked');
    const status = await eventually(
      () => statusOf(sub),
      (shown) => shown?.pending_question !== undefined,
    );
    expect(await world.runs.get(run_id)).toMatchObject({ state: 'running', why: expect.stringContaining(sub) });
    const question_id = status?.pending_question?.question_id ?? '';
    expect(await world.runs.answer(sub, { question_id, decision: 'retry', by: 'ada' })).toMatchObject({
      accepted: true,
    });
    const result = await world.runs.result(run_id);
    expect(result).toMatchObject({ outcome: 'completed', questions: 1, used: { attempts: 3 } });
  });

  it('is stopped with its parent, and still says what it used', async () => {
    const { run_id, sub } = await start('wait');
    await eventually(
      () => statusOf(sub),
      (shown) => shown?.step_id === 1,
    );
    await world.runs.cancel(run_id, { by: 'ada', reason: 'enough' }, { waitMs: 0 });
    const result = await world.runs.result(run_id);
    expect(result).toMatchObject({ outcome: 'cancelled' });
    expect(result.used).toMatchObject({ steps: 2, attempts: 2, tokens: 100 });
    expect(await world.runs.result(sub)).toMatchObject({ outcome: 'cancelled', why: expect.stringContaining(run_id) });
  });

  it('that is terminated is told, and counts as having used its share', async () => {
    const { run_id, sub } = await start('wait');
    await eventually(
      () => statusOf(sub),
      (shown) => shown?.step_id === 1,
    );
    await world.client.workflow.getHandle(workflowIdOfRun(sub)).terminate('by hand');
    // It still answers, from its history, and does not know.
    expect(await world.runs.get(sub)).toMatchObject({ state: 'ended', outcome: 'cancelled', step_id: 1 });
    const result = await world.runs.result(run_id);
    expect(result.used).toMatchObject({ steps: 1 + 24, attempts: 1 + 59 });
    const steps = await world.runs.steps(run_id);
    expect(steps).toMatchObject([{ attempts: [{ outcome: 'failed' }] }]);
    const [failure] = await world.store.records.forRun(run_id);
    expect(failure).toMatchObject({ observed_outcome: { error_code: 'SUB_RUN_LOST' } });
  });

  it('does not take a grant from strangers', async () => {
    const run_id = world.newRunId('stranger');
    const handle = await world.client.workflow.start('agentRun', {
      workflowId: workflowIdOfRun(run_id),
      taskQueue: world.taskQueue,
      args: [{ agent: 'look', goal: 'g', options: { sub_run: { grant: { budget: { max_steps: -1 } } } } }],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', bound: { steps: 50 } });
  });
});

describe('a run that is started with a parent', { timeout: 60_000 }, () => {
  const openParent = async (): Promise<string> => {
    const parent = world.newRunId('parent');
    await world.runs.start({ agent: 'plain', goal: 'wait', run_id: parent, plan: plan('wait') });
    return parent;
  };
  const usedBy = async (runId: string) => (await world.runs.get(runId)).budget.used;

  it('draws on the parent’s budget, and gives back what it leaves', async () => {
    const parent = await openParent();
    const sub = world.newRunId('child');
    // The parent's bound is 7 steps, one of which is under way: half of the rest.
    const { bound } = await world.runs.start({
      agent: 'plain',
      goal: 'help',
      run_id: sub,
      plan: plan('look', 'wait'),
      parent_run_id: parent,
    });
    expect(bound.steps).toBe(3);
    expect(await usedBy(parent)).toMatchObject({ steps: 1 + 3 });
    await eventually(
      () => statusOf(sub),
      (shown) => shown?.step_id === 2,
    );
    await world.runs.cancel(sub, { by: 'ada' }, { waitMs: 0 });
    expect(await world.runs.result(sub)).toMatchObject({ outcome: 'cancelled', used: { steps: 2, attempts: 2 } });
    const used = await eventually(
      () => usedBy(parent),
      ({ steps }) => steps === 3,
    );
    expect(used).toMatchObject({ steps: 3, attempts: 3 });
    await world.runs.cancel(parent, { by: 'ada' }, { waitMs: 0 });
  });

  it('is refused when the parent has ended, or nothing is left; an unknown parent is only a name', async () => {
    const parent = await openParent();
    const child = { agent: 'plain', goal: 'help', plan: plan('look') };
    const start = (run_id: string, parent_run_id: string) => world.runs.start({ ...child, run_id, parent_run_id });
    const [one, two, three, four] = [1, 2, 3, 4].map(() => world.newRunId('child'));
    const stays = { ...child, plan: plan('wait'), parent_run_id: parent };
    await world.runs.start({ ...stays, run_id: one });
    await world.runs.start({ ...stays, run_id: two });
    await world.runs.start({ ...stays, run_id: three });
    await expect(start(four ?? '', parent)).rejects.toMatchObject({
      code: 'bad_request',
      problems: [{ path: '$.parent_run_id', message: expect.stringContaining('is used up') }],
    });
    for (const id of [one, two, three, parent]) await world.runs.cancel(id ?? '', { by: 'ada' }, { waitMs: 0 });
    await world.runs.result(parent);
    await expect(start(four ?? '', parent)).rejects.toMatchObject({ code: 'run_ended' });
    await expect(start(four ?? '', 'nobody-knows-it')).resolves.toMatchObject({ run_id: four });
    expect(await world.runs.result(four ?? '')).toMatchObject({ outcome: 'completed' });
  });

  it('leaves nothing drawn when it is not started', async () => {
    const parent = await openParent();
    const taken = world.newRunId('taken');
    const child = { agent: 'plain', goal: 'help', plan: plan('look'), run_id: taken };
    await world.runs.start(child);
    await expect(world.runs.start({ ...child, parent_run_id: parent })).rejects.toMatchObject({ code: 'run_exists' });
    await eventually(
      () => usedBy(parent),
      ({ steps }) => steps === 1,
    );
    await world.runs.cancel(parent, { by: 'ada' }, { waitMs: 0 });
    expect(await world.runs.result(parent)).toMatchObject({ used: { steps: 1 } });
  });
});
