import type { GuardrailsStatus } from './guardrails-status.ts';
import type { LoopAnswer } from './loop-answer.ts';
import type { ReasonedTraceItem } from './loop-trace.ts';

/** Computes from a trace what `guardrailsStatus` computes from the state. The archive of a run keeps only the trace. */
export function statusFromTrace(trace: readonly ReasonedTraceItem[], loopId: string): GuardrailsStatus | null {
  const item = trace.find((candidate) => candidate.loop_id === loopId);
  if (item === undefined) return null;
  const last = trace.at(-1);
  const rerunCount = trace.length - 1;
  return {
    loop_id: loopId,
    rerun_count: rerunCount,
    max_reruns: item.max_reruns,
    rerun_limit_reached: rerunCount >= item.max_reruns,
    bias_echo: item.bias_echo,
    reflection_fatigue: item.reflection_fatigue,
    fatigue_threshold_exceeded: item.fatigue_threshold_exceeded,
    force_finalize: last?.force_finalize ?? false,
    rerun_reason: item.rerun_reason,
    rerun_trigger: item.rerun_trigger ?? [],
    alignment_score: item.alignment_score,
    drift_score: item.drift_score,
    summary_valid: item.summary_valid,
    reflection_persona: item.reflection_persona,
    finalize_reason: last?.finalize_reason ?? null,
  };
}

/** Computes from a trace what `answerFor` computes from the state. Null until a decision was made about the loop. */
export function answerFromTrace(trace: readonly ReasonedTraceItem[], loopId: string): LoopAnswer | null {
  const position = trace.findIndex((candidate) => candidate.loop_id === loopId);
  const item = trace[position];
  if (item === undefined || item.alignment_score === null || item.drift_score === null) return null;
  const decided = decisionOf(trace, position, item);
  if (decided === null) return null;
  return {
    status: 'success',
    loop_id: loopId,
    reflection_result: {
      alignment_score: item.alignment_score,
      drift_score: item.drift_score,
      summary_valid: item.summary_valid ?? true,
      reflection_persona: item.reflection_persona,
      bias_echo: item.bias_echo,
      repeated_tags: item.repeated_tags ?? [],
      repetition_counts: item.repetition_counts ?? {},
      reflection_fatigue: item.reflection_fatigue,
      fatigue_increased: item.fatigue_increased,
    },
    decision_result: decided,
    orchestrator_persona: item.orchestrator_persona,
    timestamp: item.timestamp,
  };
}

function decisionOf(
  trace: readonly ReasonedTraceItem[],
  position: number,
  item: ReasonedTraceItem,
): LoopAnswer['decision_result'] | null {
  const shared = {
    original_loop_id: trace[0]?.loop_id ?? item.loop_id,
    rerun_trigger: item.rerun_trigger ?? [],
    rerun_count: item.rerun_count,
    max_reruns: item.max_reruns,
  };
  const next = trace[position + 1];
  if (item.rerun_reason !== null && next !== undefined) {
    return {
      decision: 'rerun',
      ...shared,
      new_loop_id: next.loop_id,
      rerun_reason: item.rerun_reason,
      rerun_number: item.rerun_count,
      force_finalize: false,
    };
  }
  if (item.finalize_reason === null) return null;
  return {
    decision: 'finalize',
    ...shared,
    finalize_reason: item.finalize_reason,
    force_finalize: item.force_finalize,
  };
}
