import type { Scores } from './fatigue.ts';

/**
 * The loop whose result a finalized run keeps: highest alignment, then lowest drift, then the later. Scores are compared
 * as they came; only sums and differences need decimals.
 */
export function bestLoop<Loop extends Scores>(loopsInOrder: readonly Loop[]): Loop | null {
  let best: Loop | null = null;
  for (const loop of loopsInOrder) if (best === null || isAtLeastAsGood(loop, best)) best = loop;
  return best;
}

function isAtLeastAsGood(loop: Scores, other: Scores): boolean {
  if (loop.alignment_score !== other.alignment_score) return loop.alignment_score > other.alignment_score;
  return loop.drift_score <= other.drift_score;
}
