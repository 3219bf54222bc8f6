/**
 * Side effects in the hostile worlds: unknown outcomes, random answers, deadlines, planners that repeat themselves and
 * workers that freeze. No effect happens twice unless a person said that it was not done, and each of the rules that
 * prevent it is missed at once when it is taken away.
 */
import { describe, expect, it } from 'vitest';
import type { WorldRules } from '../../../../src/testing/simulator/hostile/world.ts';
import { simulateMany } from '../../../../src/testing/simulator/hostile/simulate-many.ts';

const RUNS = 1_000;

describe('a side effect in the hostile worlds', { timeout: 120_000 }, () => {
  it('never happens twice without a person who said not_done', async () => {
    const { ok, effects, effects_twice } = await simulateMany({ runs: RUNS, seed: 7_000 });
    expect({ ok, effects_twice }).toEqual({ ok: true, effects_twice: 0 });
    // Runs without effects would show nothing.
    expect(effects).toBeGreaterThan(RUNS / 2);
  });

  it('is found to happen twice where an error counts as a failure that is certain', async () => {
    const rules: WorldRules = { certainty: (_effect, stated, guessed) => stated ?? guessed };
    const { ok, effects_twice, violations } = await simulateMany({ runs: RUNS, seed: 7_000, rules });
    expect({ ok, isFound: effects_twice > 0 }).toEqual({ ok: false, isFound: true });
    expect(violations[0]).toMatchObject({ figure: 'effects_twice' });
  });

  it('is found to happen twice where the receiver ignores the fence of a frozen worker', async () => {
    const { effects_twice } = await simulateMany({ runs: RUNS, seed: 7_000, rules: { checksFence: false } });
    expect(effects_twice).toBeGreaterThan(0);
  });

  it('is found to happen twice where identical calls run while the outcome is unknown', async () => {
    const { effects_twice } = await simulateMany({ runs: RUNS, seed: 7_000, rules: { forgetsUnknown: true } });
    expect(effects_twice).toBeGreaterThan(0);
  });
});
