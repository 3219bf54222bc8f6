import { RunRequestError } from '../../../protocol/errors.ts';
import type { RunOutcome } from '../../../protocol/run.ts';
import type { PolicyPatch } from '../../../protocol/schemas/policy.ts';
import { type Figure, FIGURES, shareOf, type Violation, findViolations } from './figures.ts';
import { type SceneResult, runScene } from './run-scene.ts';
import type { WorldRules } from './world.ts';
import { drawScene } from './scene.ts';

export interface ManyOptions {
  runs: number;
  /** The seed of the first run. Each further run uses the next number. */
  seed: number;
  /** Used for every run, instead of a drawn policy. */
  policy?: PolicyPatch | undefined;
  /** Wrong rules, for a test that they are found. */
  rules?: WorldRules | undefined;
  onProgress?: ((done: number) => void) | undefined;
}

export interface SimulationSummary {
  ok: boolean;
  runs: number;
  ended: number;
  exceeded_bound: number;
  /** Side effects that happened in all runs together. */
  effects: number;
  /** Of these, how many happened again without a person's `not_done`. */
  effects_twice: number;
  outcomes: Partial<Record<RunOutcome, number>>;
  runs_per_s: number;
  /** The largest share of its limit that any run used; null if no run had a limit above zero. */
  closest: Record<Figure, number | null>;
  /** How many runs used their whole limit. */
  reached: Record<Figure, number>;
  violations: Violation[];
}

/** Further violations are counted but not listed. */
const LISTED_VIOLATIONS = 100;
/** Concurrent runs share turns of the event loop, which are the main cost of a simulated run. */
const AT_ONCE = 16;

/**
 * Simulates many hostile runs and compares each with its limit. The same options give the same result, except for the
 * speed.
 */
export async function simulateMany({ runs, seed, policy, rules, onProgress }: ManyOptions): Promise<SimulationSummary> {
  const startedAt = performance.now();
  const tally = newTally(runs);
  let started = 0;
  let done = 0;
  const liveOn = async (): Promise<void> => {
    while (started < runs) {
      const ownSeed = seed + started;
      started += 1;
      const lived = await runScene(drawScene(ownSeed, policy), rules).catch((error: unknown) =>
        notEnded(ownSeed, error),
      );
      if ('figure' in lived) tally.violations.push(lived);
      else count(tally, ownSeed, lived);
      done += 1;
      onProgress?.(done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, runs) }, liveOn));
  const seconds = (performance.now() - startedAt) / 1_000;
  tally.violations.sort((one, other) => one.seed - other.seed).splice(LISTED_VIOLATIONS);
  return {
    ...tally,
    ok: tally.ended === runs && tally.exceeded_bound === 0 && tally.effects_twice === 0,
    runs_per_s: Math.round(runs / Math.max(seconds, 0.001)),
  };
}

const forEachFigure = <T>(value: T): Record<Figure, T> =>
  Object.fromEntries(FIGURES.map((figure) => [figure, value])) as Record<Figure, T>;

const newTally = (runs: number): SimulationSummary => ({
  ok: true,
  runs,
  ended: 0,
  exceeded_bound: 0,
  effects: 0,
  effects_twice: 0,
  outcomes: {},
  runs_per_s: 0,
  closest: forEachFigure<number | null>(null),
  reached: forEachFigure(0),
  violations: [],
});

function count(
  tally: SimulationSummary,
  seed: number,
  { result, used, bound, effects, effects_twice }: SceneResult,
): void {
  tally.ended += 1;
  tally.outcomes[result.outcome] = (tally.outcomes[result.outcome] ?? 0) + 1;
  tally.effects += effects;
  tally.effects_twice += effects_twice;
  if (effects_twice > 0) tally.violations.push({ seed, figure: 'effects_twice', used: effects_twice, bound: 0 });
  const violations = findViolations(seed, used, bound);
  if (violations.length > 0) tally.exceeded_bound += 1;
  tally.violations.push(...violations);
  for (const figure of FIGURES) {
    const share = shareOf(used, bound, figure);
    if (share === null) continue;
    tally.closest[figure] = Math.max(tally.closest[figure] ?? 0, share);
    if (share >= 1) tally.reached[figure] += 1;
  }
}

function notEnded(seed: number, error: unknown): Violation {
  // The policy is invalid, so no run can start.
  if (error instanceof RunRequestError) throw error;
  return { seed, figure: 'end', used: 0, bound: 1, why: error instanceof Error ? error.message : String(error) };
}
