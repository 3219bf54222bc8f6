import type { FinalizeReason, RerunReason, RerunTrigger } from './decision.ts';
import type { GuardState, LoopEntry } from './guard-state.ts';
import { rerunCountAfter } from './loop-answer.ts';
import { rerunDepth } from './loop-ids.ts';
import { rerunReasoning } from './reasoning.ts';
import type { RerunReasoning } from './reasoning.ts';

export type LoopStatus = 'running' | 'reviewing' | 'rerun' | 'finalized';

export interface LoopTraceItem {
  loop_id: string;
  status: LoopStatus;
  timestamp: string;
  rerun_of: string | null;
  rerun_depth: number;
  rerun_count: number;
  max_reruns: number;
  bias_echo: boolean;
  repeated_tags: string[] | null;
  reflection_fatigue: number;
  fatigue_increased: boolean;
  rerun_reason: RerunReason | null;
  rerun_reason_detail: string | null;
  rerun_trigger: RerunTrigger[] | null;
  force_finalize: boolean;
  overridden_by: string | null;
  orchestrator_persona: string | null;
  reflection_persona: string | null;
}

/** A trace item with what people ask next: why it was run again, or why it was the last, and which biases it showed. */
export interface ReasonedTraceItem extends LoopTraceItem {
  /** Every tag that this loop was flagged with; `repeated_tags` are those of them that came too often. */
  bias_tags: string[] | null;
  finalize_reason: FinalizeReason | null;
  reasoning: RerunReasoning | null;
}

export const loopTrace = (state: GuardState): ReasonedTraceItem[] =>
  state.loops.map((loop, position) => traceItemOf(state, loop, position));

function traceItemOf(state: GuardState, loop: LoopEntry, position: number): ReasonedTraceItem {
  const { verdict } = loop;
  const rerun = verdict?.ruling.decision === 'rerun' ? verdict.ruling : null;
  const final = verdict?.ruling.decision === 'finalize' ? verdict.ruling : null;
  const persona = verdict?.review.reflection_persona ?? null;
  return {
    loop_id: loop.loop_id,
    status: statusOf(state, loop),
    timestamp: verdict?.at ?? (state.ended === null ? loop.opened_at : state.ended.at),
    rerun_of: state.loops[position - 1]?.loop_id ?? null,
    rerun_depth: position === 0 ? 0 : rerunDepth(loop.loop_id),
    rerun_count: verdict === null ? position : rerunCountAfter(position, verdict),
    max_reruns: state.max_reruns,
    bias_echo: verdict !== null && verdict.repeated_tags.length > 0,
    repeated_tags: verdict?.repeated_tags ?? null,
    reflection_fatigue: fatigueAt(state, position),
    fatigue_increased: verdict?.fatigue_increased ?? false,
    rerun_reason: rerun?.rerun_reason ?? null,
    rerun_reason_detail: rerun?.rerun_reason_detail ?? null,
    rerun_trigger: verdict?.rerun_trigger ?? null,
    force_finalize: final?.force_finalize ?? false,
    overridden_by: rerun?.overridden_by ?? null,
    orchestrator_persona: verdict?.orchestrator_persona ?? persona,
    reflection_persona: persona,
    bias_tags: verdict === null ? null : Object.keys(verdict.repetition_counts),
    finalize_reason: final?.finalize_reason ?? null,
    reasoning:
      rerun === null || verdict === null
        ? null
        : rerunReasoning({ ...rerun, rerun_trigger: verdict.rerun_trigger }, verdict.at, persona, rerun.overridden_by),
  };
}

function statusOf(state: GuardState, loop: LoopEntry): LoopStatus {
  if (loop.verdict !== null) return loop.verdict.ruling.decision === 'rerun' ? 'rerun' : 'finalized';
  if (state.ended !== null) return 'finalized';
  return loop.reviewing ? 'reviewing' : 'running';
}

/** A loop that is not judged yet stands where the one before it ended. */
export function fatigueAt(state: GuardState, position: number): number {
  const loop = state.loops[position];
  return loop?.verdict?.reflection_fatigue ?? state.loops[position - 1]?.verdict?.reflection_fatigue ?? 0;
}
