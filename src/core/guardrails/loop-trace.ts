import type { BiasCounts } from './bias-echo.ts';
import type { FinalizeReason, RerunReasonCode, RerunTrigger } from './decision.ts';
import { listOverrides } from './family-overrides.ts';
import type { GuardState, LoopEntry } from './guard-state.ts';
import { rerunCountAfter } from './loop-answer.ts';
import { rerunDepth } from './loop-ids.ts';
import type { OverrideEntry } from './overrides.ts';
import { explainRerun } from './reasoning.ts';
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
  rerun_reason: RerunReasonCode | null;
  rerun_reason_detail: string | null;
  rerun_trigger: RerunTrigger[] | null;
  force_finalize: boolean;
  overridden_by: string | null;
  orchestrator_persona: string | null;
  reflection_persona: string | null;
}

/**
 * A trace item with details: why the loop was run again or was the last, how it was judged, and who overrode. A trace
 * contains everything that a family's status and answers do, so that they can be computed from a run's archive.
 */
export interface ReasonedTraceItem extends LoopTraceItem {
  /** All tags of this loop. `repeated_tags` are those that were flagged too often. */
  bias_tags: string[] | null;
  finalize_reason: FinalizeReason | null;
  reasoning: RerunReasoning | null;
  /** Null until the loop is judged, like the other scores. */
  alignment_score: number | null;
  drift_score: number | null;
  summary_valid: boolean | null;
  repetition_counts: BiasCounts | null;
  fatigue_threshold_exceeded: boolean;
  /** Overrides that came while this loop was the current one. */
  overrides: OverrideEntry[];
}

export function buildLoopTrace(state: GuardState): ReasonedTraceItem[] {
  const overrides = overridesByLoop(state);
  return state.loops.map((loop, position) => buildTraceItem(state, loop, position, overrides[position] ?? []));
}

/**
 * Groups overrides by loop. Flags in a report belong to the reported loop, although the next loop opens at the same
 * time.
 */
function overridesByLoop(state: GuardState): OverrideEntry[][] {
  const byLoop: OverrideEntry[][] = state.loops.map(() => []);
  for (const entry of listOverrides(state)) {
    const reported = state.loops.findIndex((loop) => entry.via === 'loop_complete' && loop.verdict?.at === entry.at);
    const current = state.loops.findLastIndex((loop) => loop.opened_at <= entry.at);
    byLoop[reported === -1 ? Math.max(0, current) : reported]?.push(entry);
  }
  return byLoop;
}

function buildTraceItem(
  state: GuardState,
  loop: LoopEntry,
  position: number,
  overrides: OverrideEntry[],
): ReasonedTraceItem {
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
        : explainRerun({ ...rerun, rerun_trigger: verdict.rerun_trigger }, verdict.at, persona, rerun.overridden_by),
    alignment_score: verdict?.review.alignment_score ?? null,
    drift_score: verdict?.review.drift_score ?? null,
    summary_valid: verdict?.review.summary_valid ?? null,
    repetition_counts: verdict?.repetition_counts ?? null,
    fatigue_threshold_exceeded: (verdict ?? state.loops[position - 1]?.verdict)?.fatigue_threshold_exceeded ?? false,
    overrides,
  };
}

function statusOf(state: GuardState, loop: LoopEntry): LoopStatus {
  if (loop.verdict !== null) return loop.verdict.ruling.decision === 'rerun' ? 'rerun' : 'finalized';
  if (state.ended !== null) return 'finalized';
  return loop.reviewing ? 'reviewing' : 'running';
}

/** The fatigue at a loop. A loop that is not judged yet has the fatigue of the loop before it. */
export function fatigueAt(state: GuardState, position: number): number {
  const loop = state.loops[position];
  return loop?.verdict?.reflection_fatigue ?? state.loops[position - 1]?.verdict?.reflection_fatigue ?? 0;
}
