import type { BiasCounts } from './bias-echo.ts';
import type { FinalizeReason, RerunReasonCode, RerunTrigger } from './decision.ts';
import { originalLoopId } from './guard-state.ts';
import type { GuardState, Review, LoopVerdict } from './guard-state.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';

export interface ReflectionResult extends Review {
  bias_echo: boolean;
  repeated_tags: string[];
  repetition_counts: BiasCounts;
  reflection_fatigue: number;
  fatigue_increased: boolean;
}

export type DecisionResult =
  | {
      decision: 'rerun';
      original_loop_id: string;
      new_loop_id: string;
      rerun_reason: RerunReasonCode;
      rerun_trigger: RerunTrigger[];
      rerun_number: number;
      rerun_count: number;
      max_reruns: number;
      force_finalize: false;
    }
  | {
      decision: 'finalize';
      original_loop_id: string;
      finalize_reason: FinalizeReason;
      force_finalize: boolean;
      rerun_trigger: RerunTrigger[];
      rerun_count: number;
      max_reruns: number;
    };

/** The answer of loop-complete. */
export interface LoopAnswer {
  status: 'success';
  loop_id: string;
  reflection_result: ReflectionResult;
  decision_result: DecisionResult;
  orchestrator_persona: string | null;
  timestamp: string;
}

export interface AnsweredLoop {
  ok: true;
  answer: LoopAnswer;
}

/** Builds the answer from the decision about a loop of this family, whether or not its report was answered before. */
export function buildLoopAnswer(state: GuardState, loopId: string): AnsweredLoop | Refusal {
  const position = state.loops.findIndex((loop) => loop.loop_id === loopId);
  const loop = state.loops[position];
  if (loop === undefined) return refuse('unknown_loop', `${loopId} is not a loop of the family ${state.family}.`);
  if (loop.verdict === null) return refuse('loop_running', `${loopId} has no decision yet; ask again later.`);
  return { ok: true, answer: buildAnswer(state, position, loopId, loop.verdict) };
}

/** The number of reruns after the decision, as answers contain it. */
export function rerunCountAfter(position: number, verdict: LoopVerdict): number {
  return verdict.ruling.decision === 'rerun' ? position + 1 : position;
}

function buildAnswer(state: GuardState, position: number, loopId: string, verdict: LoopVerdict): LoopAnswer {
  return {
    status: 'success',
    loop_id: loopId,
    reflection_result: {
      ...verdict.review,
      bias_echo: verdict.repeated_tags.length > 0,
      repeated_tags: verdict.repeated_tags,
      repetition_counts: verdict.repetition_counts,
      reflection_fatigue: verdict.reflection_fatigue,
      fatigue_increased: verdict.fatigue_increased,
    },
    decision_result: buildDecisionResult(state, position, verdict),
    orchestrator_persona: verdict.orchestrator_persona ?? verdict.review.reflection_persona,
    timestamp: verdict.at,
  };
}

function buildDecisionResult(state: GuardState, position: number, verdict: LoopVerdict): DecisionResult {
  const { ruling } = verdict;
  const count = rerunCountAfter(position, verdict);
  const original = originalLoopId(state);
  if (ruling.decision === 'finalize') {
    return {
      decision: 'finalize',
      original_loop_id: original,
      finalize_reason: ruling.finalize_reason,
      force_finalize: ruling.force_finalize,
      rerun_trigger: verdict.rerun_trigger,
      rerun_count: count,
      max_reruns: state.max_reruns,
    };
  }
  return {
    decision: 'rerun',
    original_loop_id: original,
    new_loop_id: ruling.new_loop_id,
    rerun_reason: ruling.rerun_reason,
    rerun_trigger: verdict.rerun_trigger,
    rerun_number: count,
    rerun_count: count,
    max_reruns: state.max_reruns,
    force_finalize: false,
  };
}
