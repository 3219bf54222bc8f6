import type { Policy } from '../../protocol/schemas/policy.ts';
import { clampDecimal, decimal, isAtLeast, minus, negate, plus, toNumber } from './decimal.ts';

export interface Scores {
  alignment_score: number;
  drift_score: number;
}

export interface FatigueResult {
  reflection_fatigue: number;
  previous_fatigue: number;
  fatigue_increment: number;
  fatigue_increased: boolean;
  improvement_detected: boolean;
  threshold_exceeded: boolean;
  critical_threshold: number;
  force_finalize: boolean;
}

const ZERO = decimal(0);

/**
 * Computes fatigue, which grows with each rerun that improves neither score and decays with each that does. A first
 * loop has nothing to compare with, so its fatigue stays unchanged.
 */
export function scoreFatigue(
  scores: Scores,
  previous: Scores | null,
  previousFatigue: number,
  policy: Policy['fatigue'],
): FatigueResult {
  const improved = previous !== null && hasImproved(scores, previous, policy.improvement_threshold);
  const increased = previous !== null && !improved;
  const increment = incrementOf(increased, improved, policy);
  const fatigue = clampDecimal(plus(decimal(previousFatigue), increment), ZERO, decimal(policy.max_fatigue));
  const exceeded = isAtLeast(fatigue, decimal(policy.critical_threshold));
  return {
    reflection_fatigue: toNumber(fatigue),
    previous_fatigue: previousFatigue,
    fatigue_increment: toNumber(increment),
    fatigue_increased: increased,
    improvement_detected: improved,
    threshold_exceeded: exceeded,
    critical_threshold: policy.critical_threshold,
    force_finalize: exceeded,
  };
}

function incrementOf(increased: boolean, improved: boolean, policy: Policy['fatigue']) {
  if (increased) return decimal(policy.base_increment);
  return improved ? negate(decimal(policy.decay_rate)) : ZERO;
}

/** True if alignment rose or drift fell by the threshold or more. */
function hasImproved(now: Scores, before: Scores, threshold: number): boolean {
  const enough = decimal(threshold);
  const alignmentGain = minus(decimal(now.alignment_score), decimal(before.alignment_score));
  const driftGain = minus(decimal(before.drift_score), decimal(now.drift_score));
  return isAtLeast(alignmentGain, enough) || isAtLeast(driftGain, enough);
}
