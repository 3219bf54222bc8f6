/**
 * What one run learnt, another knows: two real runs on Temporal and Postgres, told apart by their histories. Says nothing
 * about how lessons are ranked or stored; those have tests of their own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import type { PolicyPatch } from '../../src/protocol/schemas/policy.ts';
import { scriptedPlanner } from '../../src/testing.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';

const stock = defineTool({
  name: 'stock',
  effect: 'read',
  input: z.object({ limit: z.int() }),
  output: z.json(),
  run: ({ limit }) => {
    if (limit > 100) throw new ToolError(`limit ${limit} is over 100`, { category: 'invalid_input', code: 'HTTP_422' });
    return { items: limit };
  },
});
/** Asks for too much until something tells it otherwise. */
const planner = scriptedPlanner(({ steps, guidance }) => {
  if (steps.some(({ status }) => status === 'ok')) return { calls: [], output: 'done' };
  const told = guidance.rows.some(({ text }) => text.includes('stock'));
  return { calls: [{ tool: 'stock', input: { limit: told ? 100 : 500 } }] };
});

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld(
    ['clerk', 'forgetful', 'other'].map((name) => defineAgent({ name, tools: [stock], planner })),
  );
  await world.startWorker();
});
afterAll(() => world.close());

/** Every lesson is shown; trials have tests of their own. */
async function live(agent: string, policy: PolicyPatch = { memory: { holdout: 0 } }) {
  const run_id = world.newRunId(agent);
  await world.runs.start({ agent, goal: 'count the stock', run_id, policy });
  const result = await world.runs.result(run_id);
  const { events } = await world.client.workflow.getHandle(workflowIdOfRun(run_id)).fetchHistory();
  const activities = (events ?? []).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    return typeof name === 'string' ? [name] : [];
  });
  return { result, calls: activities.filter((name) => name === 'tool.stock').length, activities };
}

describe('the second day', () => {
  it('is right at the first attempt, where the first needed two', async () => {
    const first = await live('clerk');
    expect(first).toMatchObject({ calls: 2, result: { outcome: 'completed', failures: { total: 1 } } });
    expect(first.activities).toContain('recall');

    const second = await live('clerk');
    expect(second).toMatchObject({ calls: 1, result: { outcome: 'completed', failures: { total: 0 } } });
    // The lesson was read before the run began, so it cost no activity.
    expect(second.activities).toEqual(['callModel', 'tool.stock', 'callModel', 'archive']);

    const [lesson] = await world.store.reflections.search({ agent: 'clerk' });
    expect(lesson).toMatchObject({
      content: 'If stock fails with HTTP_422, then what worked was limit 100 instead of 500.',
      occurrence_count: 1,
      succeeded_count: 1,
      failed_count: 0,
    });
  });

  it('is like the first with the scope run', async () => {
    const policy: PolicyPatch = { memory: { scope: 'run' } };
    const first = await live('forgetful', policy);
    const second = await live('forgetful', policy);
    expect([first.calls, second.calls]).toEqual([2, 2]);
    expect(second.activities).not.toContain('recall');
  });

  it('is like the first for another agent', async () => {
    await live('clerk');
    expect((await live('other')).calls).toBe(2);
  });

  it('is like the first for a lesson that a person retired', async () => {
    await live('clerk');
    for (const { id } of await world.store.reflections.search({ agent: 'clerk' })) {
      await world.store.reflections.revise({ reflection_id: id, action: 'retire', by: 'ada' });
    }
    expect((await live('clerk')).calls).toBe(2);
  });
});
