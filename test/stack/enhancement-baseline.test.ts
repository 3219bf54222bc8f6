/**
 * The rollback of enhancement through real runs: what runs write about their other work, which of them are the baseline, and
 * when the switch goes off. Real Temporal and Postgres.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { enhancementArm } from '../../src/core/retry/enhancement-arm.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { EMPTY_START_MEMORY } from '../../src/protocol/lessons.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const draft = defineTool({
  name: 'draft',
  effect: 'read',
  input: z.json(),
  output: z.json(),
  run: async (_input, ctx) => {
    ctx.used({ costMicroUsd: 500 });
    // Most of the time is other work, so that the load of the machine does not decide the comparison.
    await setTimeout(200);
    return 'a draft';
  },
});
/** Fails at first. With an enhanced prompt it costs `cost`, and works if enhancement is useful. */
const check = (name: string, cost: number, isUseful: boolean) =>
  defineTool({
    name,
    effect: 'read',
    evaluates: true,
    input: z.json(),
    output: z.json(),
    run: async (_input, ctx) => {
      const isEnhanced = (await ctx.enhance('Check it.')) !== 'Check it.';
      ctx.used({ costMicroUsd: isEnhanced ? cost : 10 });
      if (isEnhanced && isUseful) return 'good';
      throw new ToolError('the reasons are missing', { category: 'validation_reasoning', code: 'MISSED' });
    },
  });

const planWith = (tool: string) => ({
  steps: [
    { phase: 'draft', tool: 'draft', input: {} },
    { phase: 'check', tool, input: {} },
  ],
});
const policy = { retry: { base_ms: 1 }, reruns: { max_reruns: 0 }, humans: { max_questions: 0 } };

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([
    defineAgent({ name: 'useful', tools: [draft, check('help', 10, true)], plan: planWith('help'), policy }),
    defineAgent({ name: 'wasteful', tools: [draft, check('waste', 100_000, false)], plan: planWith('waste'), policy }),
  ]);
  await world.startWorker();
});
afterAll(() => world.close());

const heldOut = (run_id: string): boolean =>
  enhancementArm({ run_id, policy: DEFAULT_POLICY, memory: EMPTY_START_MEMORY }) === 'baseline';

/** Lives runs, side by side, of which every fifth is held out. */
async function live(agent: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const id = world.newRunId(agent);
    if (heldOut(id) === (ids.length % 5 === 4)) ids.push(id);
  }
  await Promise.all(
    ids.map(async (run_id) => {
      await world.runs.start({ agent, goal: 'check it', run_id });
      await world.runs.result(run_id);
    }),
  );
  return ids;
}

describe('a run that checks its work', () => {
  it('writes its other work and its arm, and enhancement that helps stays on', { timeout: 60_000 }, async () => {
    const ids = await live('useful', 30);
    const evaluations = await world.store.retryMonitors.evaluationsOf('useful', null);
    expect(evaluations).toHaveLength(30);
    for (const { evaluation_id, arm, other_cost_micro_usd, attempts } of evaluations) {
      const isHeldOut = heldOut(evaluation_id.slice(0, evaluation_id.lastIndexOf(':')));
      expect({ arm, other_cost_micro_usd }).toEqual({
        arm: isHeldOut ? 'baseline' : 'enhanced',
        other_cost_micro_usd: 500,
      });
      expect(attempts.map(({ ok }) => ok)).toEqual(isHeldOut ? [false, false, false] : [false, true]);
    }
    expect(await world.store.enhancement.currentSwitch('useful')).toMatchObject({ enhancement: 'on' });
    const status = await world.runs.get(ids[4] ?? '');
    expect(status.enhancement).toContain('part of the baseline');
  });

  it('switches enhancement off within 50 runs if it only costs', { timeout: 60_000 }, async () => {
    await live('wasteful', 40);
    expect(await world.store.enhancement.currentSwitch('wasteful')).toMatchObject({
      enhancement: 'off',
      // On a busy machine its time may exceed the limit first.
      reason: expect.stringMatching(/^(cost_factor|runtime_overhead)_exceeded$/) as string,
      by: 'rollback rule',
    });
    const [id = ''] = await live('wasteful', 1);
    expect((await world.runs.get(id)).enhancement).toMatch(/^Enhancement is off: over the last \d+ evaluations/);
  });
});
