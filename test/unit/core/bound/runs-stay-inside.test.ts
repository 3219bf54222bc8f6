/**
 * Thousands of runs with random policies and plans in a hostile world: tools that fail in every way, planners that
 * never stop, reviewers that always reject, people who answer anything, late or not at all, and unavailable stores.
 * Every run ends within its limit. Needs nothing. The runs are seeded, so a failure repeats. Does not prove what a
 * model really used, because the ledger only knows what a planner reports.
 */
import { describe, expect, it } from 'vitest';
import { FIGURES, shareOf, findViolations } from '../../../../src/testing/simulator/hostile/figures.ts';
import { runScene } from '../../../../src/testing/simulator/hostile/run-scene.ts';
import { drawScene } from '../../../../src/testing/simulator/hostile/scene.ts';

const RUNS = 2_500;
/** A limit of one is reached by nearly every run, so reaching it proves nothing. */
const WORTH_REACHING = 3;

describe('a run in a hostile world', () => {
  it(`${RUNS} runs in a hostile world all end within their limit`, { timeout: 120_000 }, async () => {
    const outcomes: Record<string, number> = {};
    const nearest = Object.fromEntries(FIGURES.map((figure) => [figure, 0]));
    const violations: unknown[] = [];
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const scene = drawScene(seed);
      const { simulated, result, used, bound } = await runScene(scene);
      const { state, calls } = simulated;
      violations.push(...findViolations(seed, used, bound));
      const { humans } = state.run.policy;
      const also = {
        // What the world saw is what the ledger says, no more and no less.
        counted: scene.character.asks || calls === result.used.attempts,
        questions: state.ledger.questions.asked <= humans.max_questions,
        feedback: state.people.feedback.length <= humans.max_feedback,
        humanWait: state.ledger.human_wait_ms <= bound.wait_ms,
        size: new TextEncoder().encode(JSON.stringify(state)).length < 256 * 1024,
      };
      if (Object.values(also).includes(false)) violations.push({ seed, ...also });
      outcomes[result.outcome] = (outcomes[result.outcome] ?? 0) + 1;
      for (const figure of FIGURES) {
        if ((bound[figure] ?? 0) < WORTH_REACHING) continue;
        nearest[figure] = Math.max(nearest[figure] ?? 0, shareOf(used, bound, figure) ?? 0);
      }
    }
    console.log(`outcomes of ${RUNS} hostile runs`, outcomes, 'nearest to the bound', nearest);
    expect(violations).toEqual([]);
    // A world in which only one thing ever happens would prove nothing.
    const all = ['budget_exhausted', 'cancelled', 'completed', 'finalized', 'system_error'];
    expect(Object.keys(outcomes).sort()).toEqual(all);
    // And the bound is one that runs really reach.
    expect(nearest).toMatchObject({ loops: 1, steps: 1, attempts: 1, model_calls: 1 });
    for (const figure of ['tokens', 'cost_micro_usd', 'wait_ms']) expect(nearest[figure]).toBeGreaterThan(0.99);
  });

  it('a hostile run repeats exactly with the same seed', async () => {
    for (const seed of [7, 8, 9]) {
      const [one, other] = [await runScene(drawScene(seed)), await runScene(drawScene(seed))];
      expect(JSON.stringify(one.simulated.state)).toBe(JSON.stringify(other.simulated.state));
    }
  });
});
