import type { Bound, RunResult } from '../../../protocol/run.ts';
import type { Simulated } from '../simulate-run.ts';
import type { Observed } from './world.ts';

export const FIGURES = ['loops', 'steps', 'attempts', 'model_calls', 'tokens', 'cost_micro_usd', 'wait_ms'] as const;
export type Figure = (typeof FIGURES)[number];
export type Figures = Record<Figure, number>;

export interface Violation {
  /** Reproduce it with `secondwind simulate --runs 1 --seed <seed>`. */
  seed: number;
  /** `end`: the run did not end. `effects_twice`: a side effect happened again although nobody said that it was not done. */
  figure: Figure | 'end' | 'effects_twice';
  used: number;
  bound: number;
  why?: string;
}

/** Measures how much a run used, by its own ledger or as observed from outside, whichever is more. */
export function measureFigures({ state }: Simulated, result: RunResult, seen: Observed): Figures {
  const { used, loops } = result;
  const elapsed = Date.parse(result.ended_at) - Date.parse(result.started_at);
  return {
    loops: Math.max(loops, state.guard.loops.length),
    steps: Math.max(used.steps, state.ledger.next_step_id - 1),
    attempts: Math.max(used.attempts, seen.calls),
    model_calls: Math.max(used.model_calls, seen.turns),
    tokens: used.tokens,
    cost_micro_usd: used.cost_micro_usd,
    // All time during which no call was in flight: waits for people, and backoff, counted once if several steps wait at
    // the same time.
    wait_ms: Math.max(0, elapsed - covered(seen.busy) - seen.turnsMs - seen.reviews),
  };
}

/** The total length of a union of intervals. */
function covered(intervals: Observed['busy']): number {
  let total = 0;
  let until = 0;
  for (const [from, to] of intervals.toSorted(([one], [other]) => one - other)) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}

export function findViolations(seed: number, used: Figures, bound: Bound): Violation[] {
  return FIGURES.flatMap((figure) => {
    const most = bound[figure];
    return most !== null && used[figure] > most ? [{ seed, figure, used: used[figure], bound: most }] : [];
  });
}

/** The share of the limit that was used; null if there is no limit, or the limit is zero. */
export function shareOf(used: Figures, bound: Bound, figure: Figure): number | null {
  const most = bound[figure];
  return most === null || most === 0 ? null : used[figure] / most;
}
