import type { FinalizeReason, RerunReasonCode, RerunTrigger } from './decision.ts';
import { currentLoop, rerunCount } from './guard-state.ts';
import type { GuardState } from './guard-state.ts';
import { fatigueAt } from './loop-trace.ts';

export interface GuardrailsStatus {
  loop_id: string;
  rerun_count: number;
  max_reruns: number;
  rerun_limit_reached: boolean;
  bias_echo: boolean;
  reflection_fatigue: number;
  fatigue_threshold_exceeded: boolean;
  force_finalize: boolean;
  rerun_reason: RerunReasonCode | null;
  rerun_trigger: RerunTrigger[];
  alignment_score: number | null;
  drift_score: number | null;
  summary_valid: boolean | null;
  reflection_persona: string | null;
  finalize_reason: FinalizeReason | null;
}

/**
 * The status of one loop, or null if the family has no such loop. Counts, limit and end are those of the whole family,
 * as they are now. Scores and reasons are the loop's own, and null until it is reported.
 */
export function buildGuardrailsStatus(
  state: GuardState,
  loopId: string = currentLoop(state).loop_id,
): GuardrailsStatus | null {
  const position = state.loops.findIndex((loop) => loop.loop_id === loopId);
  const loop = state.loops[position];
  if (loop === undefined) return null;
  const { verdict } = loop;
  const latest = verdict ?? state.loops[position - 1]?.verdict ?? null;
  return {
    loop_id: loopId,
    rerun_count: rerunCount(state),
    max_reruns: state.max_reruns,
    rerun_limit_reached: rerunCount(state) >= state.max_reruns,
    bias_echo: verdict !== null && verdict.repeated_tags.length > 0,
    reflection_fatigue: fatigueAt(state, position),
    fatigue_threshold_exceeded: latest?.fatigue_threshold_exceeded ?? false,
    force_finalize: state.ended?.force_finalize ?? false,
    rerun_reason: verdict?.ruling.decision === 'rerun' ? verdict.ruling.rerun_reason : null,
    rerun_trigger: verdict?.rerun_trigger ?? [],
    alignment_score: verdict?.review.alignment_score ?? null,
    drift_score: verdict?.review.drift_score ?? null,
    summary_valid: verdict?.review.summary_valid ?? null,
    reflection_persona: verdict?.review.reflection_persona ?? null,
    finalize_reason: state.ended?.finalize_reason ?? null,
  };
}
