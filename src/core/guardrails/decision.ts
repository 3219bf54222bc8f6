import type { Policy } from '../../protocol/schemas/policy.ts';
import type { BiasEchoResult } from './bias-echo.ts';
import type { FatigueResult, Scores } from './fatigue.ts';
import type { RerunLimitResult } from './rerun-limit.ts';

export type RerunTrigger = 'alignment' | 'drift' | 'summary';
export type RerunReasonCode = 'alignment_threshold_not_met' | 'drift_threshold_exceeded' | 'summary_invalid';
export type GuardReason = 'bias_echo' | 'max_reruns_reached' | 'fatigue_threshold_exceeded';
export type FinalizeReason = 'thresholds_met' | GuardReason;

export interface JudgedLoop extends Scores {
  summary_valid: boolean;
}

export type ReviewDecision =
  | {
      decision: 'rerun';
      rerun_reason: RerunReasonCode;
      rerun_trigger: RerunTrigger[];
      force_finalize: false;
      /** Guards that would have ended the run in the mode `enforce`. */
      observed: GuardReason[];
    }
  | { decision: 'finalize'; finalize_reason: FinalizeReason; rerun_trigger: RerunTrigger[]; force_finalize: boolean };

const REASON_OF_TRIGGER: Record<RerunTrigger, RerunReasonCode> = {
  alignment: 'alignment_threshold_not_met',
  drift: 'drift_threshold_exceeded',
  summary: 'summary_invalid',
};

type Thresholds = Pick<Policy['reruns'], 'alignment_threshold' | 'drift_threshold'>;

/** The reasons for another loop, in the order in which the first becomes the reason of the rerun. */
export function rerunTriggers(loop: JudgedLoop, thresholds: Thresholds): RerunTrigger[] {
  const triggers: RerunTrigger[] = [];
  if (loop.alignment_score < thresholds.alignment_threshold) triggers.push('alignment');
  if (loop.drift_score > thresholds.drift_threshold) triggers.push('drift');
  if (!loop.summary_valid) triggers.push('summary');
  return triggers;
}

/**
 * Decides after each review whether another loop follows. Overrides are already applied in `limit.force_finalize` and
 * `fatigue.force_finalize`; bias echo has no override. In other modes than `enforce`, bias and fatigue are reported but
 * stop nothing. The rerun limit applies in every mode, because the run's limit is computed from it.
 */
export function decideAfterReview(
  loop: JudgedLoop,
  guards: { bias: BiasEchoResult; limit: RerunLimitResult; fatigue: FatigueResult },
  thresholds: Thresholds,
  mode: Policy['mode'] = 'enforce',
): ReviewDecision {
  const triggers = rerunTriggers(loop, thresholds);
  const [firstTrigger] = triggers;
  if (firstTrigger === undefined) {
    return { decision: 'finalize', finalize_reason: 'thresholds_met', rerun_trigger: [], force_finalize: false };
  }
  const raised: GuardReason[] = [];
  if (guards.bias.bias_echo) raised.push('bias_echo');
  if (guards.limit.force_finalize) raised.push('max_reruns_reached');
  if (guards.fatigue.force_finalize) raised.push('fatigue_threshold_exceeded');
  const stopping = raised.find((reason) => mode === 'enforce' || reason === 'max_reruns_reached');
  if (stopping !== undefined) {
    return { decision: 'finalize', finalize_reason: stopping, rerun_trigger: triggers, force_finalize: true };
  }
  return {
    decision: 'rerun',
    rerun_reason: REASON_OF_TRIGGER[firstTrigger],
    rerun_trigger: triggers,
    force_finalize: false,
    observed: raised,
  };
}
