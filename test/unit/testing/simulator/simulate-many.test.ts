/** Many hostile runs at once, and the dice behind them. That the runs stay inside: test/unit/core/bound/runs-stay-inside.test.ts. */
import { createRegistry } from '../../../../src/define/registry.ts';
import { describe, expect, it } from 'vitest';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import type { Bound } from '../../../../src/protocol/run.ts';
import { FIGURES, type Figures, findViolations } from '../../../../src/testing/simulator/hostile/figures.ts';
import { drawScene, type Scene } from '../../../../src/testing/simulator/hostile/scene.ts';
import { simulateMany } from '../../../../src/testing/simulator/hostile/simulate-many.ts';
import { drawBehaviour } from '../../../../src/testing/simulator/hostile/tool-behaviour.ts';
import { createHostileWorld, RunawayRunError } from '../../../../src/testing/simulator/hostile/world.ts';

const scenes = Array.from({ length: 1_000 }, (_, seed) => drawScene(seed));
/** What was drawn at all. */
const seen = <T>(of: (scene: Scene) => T): Set<T> => new Set(scenes.map(of));

describe('simulateMany', { timeout: 60_000 }, () => {
  it('simulateMany gives the same result for the same seed, except for the speed', async () => {
    const options = { runs: 100, seed: 40_000 };
    const [{ runs_per_s: speed, ...one }, { runs_per_s: _speed, ...other }] = [
      await simulateMany(options),
      await simulateMany(options),
    ];
    expect(one).toEqual(other);
    expect(one).toMatchObject({ ok: true, runs: 100, ended: 100, exceeded_bound: 0, violations: [] });
    expect(Object.values(one.outcomes).reduce((sum, count) => sum + count, 0)).toBe(100);
    expect(speed).toBeGreaterThan(0);
  });

  it('simulateMany simulates a run among many as it does alone', async () => {
    const alone = await Promise.all([50, 51, 52].map((seed) => simulateMany({ runs: 1, seed })));
    const { outcomes, reached } = await simulateMany({ runs: 3, seed: 50 });
    for (const figure of FIGURES) {
      expect(reached[figure]).toBe(alone.reduce((sum, one) => sum + one.reached[figure], 0));
    }
    for (const [outcome, count] of Object.entries(outcomes)) {
      expect(alone.filter((one) => outcome in one.outcomes)).toHaveLength(count);
    }
  });

  it('simulateMany uses the policy that it is given, and refuses an invalid one', async () => {
    const policy = { reruns: { max_reruns: 0 }, humans: { max_overrides: 0 }, budget: { max_steps: 2 } };
    const told: number[] = [];
    const { ok, closest } = await simulateMany({ runs: 50, seed: 1, policy, onProgress: (done) => told.push(done) });
    expect({ ok, loops: closest.loops, told: told.length }).toEqual({ ok: true, loops: 1, told: 50 });
    expect(drawScene(3, policy).policy.budget).toMatchObject({ max_steps: 2, max_tokens: 1_000_000 });
    const unfit = { budget: { soft: 0.9, near: 0.1 } };
    await expect(simulateMany({ runs: 1, seed: 1, policy: unfit })).rejects.toThrow(/budget\.soft/);
  });
});

describe('a figure beyond the bound', () => {
  const figures = (value: number): Figures =>
    Object.fromEntries(FIGURES.map((figure) => [figure, value])) as unknown as Figures;
  const bound: Bound = { ...figures(10), cost_micro_usd: null };

  it('a figure beyond the limit is reported with the seed that reproduces it', () => {
    expect(findViolations(77, figures(10), bound)).toEqual([]);
    expect(findViolations(77, { ...figures(10), steps: 11 }, bound)).toEqual([
      { seed: 77, figure: 'steps', used: 11, bound: 10 },
    ]);
    const bounded = FIGURES.filter((figure) => figure !== 'cost_micro_usd');
    expect(findViolations(77, figures(11), bound).map(({ figure }) => figure)).toEqual(bounded);
  });

  it('a run that keeps calling beyond its limit is stopped, so that the simulator ends', () => {
    const { world } = createHostileWorld(drawScene(1), 2, createRegistry([]));
    const view = { loop_id: 'l', turn: 1, attempt: 1, timeout_ms: 1_000 } as Parameters<
      NonNullable<typeof world.plan>
    >[0];
    const plan = () => world.plan?.(view);
    expect(plan).not.toThrow();
    expect(plan).not.toThrow();
    expect(plan).toThrow(RunawayRunError);
  });
});

describe('the dice', () => {
  it('the dice reach both ends of the ranges of a policy', () => {
    expect(seen(({ policy }) => policy.reruns.max_reruns).size).toBe(11);
    expect(seen(({ policy }) => policy.retry.rate_limit)).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(seen(({ policy }) => policy.humans.max_questions)).toEqual(new Set([0, 1, 2, 3]));
    expect(seen(({ policy }) => policy.humans.max_overrides)).toEqual(new Set([0, 1, 2, 3]));
    expect(seen(({ policy }) => policy.humans.chain.length)).toEqual(new Set([0, 1, 2]));
    expect(seen(({ policy }) => policy.reruns.on_guard)).toEqual(new Set(['ask_human', 'finalize']));
    expect(seen(({ policy }) => policy.mode)).toEqual(new Set(['enforce', 'guide', 'observe']));
  });

  it('the dice give every agent, planner, reviewer and kind of people', () => {
    expect(seen(({ request }) => request.agent).size).toBe(4);
    expect(seen(({ character }) => character.planner)).toEqual(new Set(['any', 'endless', 'stubborn', 'quitter']));
    expect(seen(({ character }) => character.reviewer).size).toBe(6);
    expect(seen(({ character }) => character.people)).toEqual(new Set(['any', 'relentless', 'silent']));
    expect(scenes.some(({ request }) => request.plan?.steps.some((step) => step.after !== undefined))).toBe(true);
  });

  it('the dice let tools fail in every category and with every certainty, and return invalid outputs', () => {
    const behaviours = scenes.flatMap((scene) => [1, 2, 3].map((step) => drawBehaviour(scene, step, 1)));
    const failures = behaviours.filter((behaviour) => behaviour.kind === 'fail');
    expect(new Set(failures.map(({ category }) => category)).size).toBe(FAILURE_CATEGORIES.length);
    expect(new Set(failures.map(({ certainty }) => certainty)).size).toBe(4);
    expect(new Set(behaviours.map(({ kind }) => kind)).size).toBe(3);
  });
});
