import type { Policy } from '../../protocol/schemas/policy.ts';
import type { BiasCounts } from './bias-echo.ts';
import type { FinalizeReason, JudgedLoop, RerunReasonCode, RerunTrigger } from './decision.ts';
import { familyOf, isRerunId } from './loop-ids.ts';
import { createLedger } from './overrides.ts';
import type { OverrideLedger } from './overrides.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** The parts of a policy that decide whether another pass follows. */
export type GuardPolicy = Pick<Policy, 'mode' | 'reruns' | 'fatigue' | 'bias' | 'humans'>;
export const pickGuardPolicy = ({ mode, reruns, fatigue, bias, humans }: GuardPolicy): GuardPolicy => ({
  mode,
  reruns,
  fatigue,
  bias,
  humans,
});

export interface Review extends JudgedLoop {
  reflection_persona: string | null;
}

export type Ruling =
  | {
      decision: 'rerun';
      rerun_reason: RerunReasonCode;
      rerun_reason_detail: string;
      new_loop_id: string;
      overridden_by: string | null;
    }
  | { decision: 'finalize'; finalize_reason: FinalizeReason; force_finalize: boolean };

/** Everything that was decided about a reported loop. Its answer, trace item and status are computed from this. */
export interface LoopVerdict {
  at: string;
  body_hash: string;
  orchestrator_persona: string | null;
  review: Review;
  repeated_tags: string[];
  /** The keys are this loop's own tags. A count is the number of the family's loops with that tag. */
  repetition_counts: BiasCounts;
  reflection_fatigue: number;
  fatigue_increased: boolean;
  fatigue_threshold_exceeded: boolean;
  rerun_trigger: RerunTrigger[];
  ruling: Ruling;
}

export interface LoopEntry {
  loop_id: string;
  opened_at: string;
  /** True while the reviewers are working. */
  reviewing: boolean;
  verdict: LoopVerdict | null;
}

/**
 * One family of loops as plain JSON.
 * Version 1: the first.
 */
export interface GuardState {
  version: 1;
  family: string;
  max_reruns: number;
  loops: LoopEntry[];
  overrides: OverrideLedger;
  ended: { at: string; finalize_reason: FinalizeReason | null; force_finalize: boolean } | null;
}

export interface Opened {
  ok: true;
  state: GuardState;
}

/**
 * Opens a family. `max_reruns` and `max_overrides` are fixed here, because the limit that was reported at the start has
 * to hold until the end.
 */
export function openFamily(
  loopId: string,
  limits: { max_reruns: number; max_overrides: number },
  at: string,
): Opened | Refusal {
  if (isRerunId(loopId)) {
    return refuse(
      'not_a_first_loop',
      `${loopId} ends in _r<n>, so it is a rerun; report the first loop of its family.`,
    );
  }
  const state: GuardState = {
    version: 1,
    family: familyOf(loopId),
    max_reruns: limits.max_reruns,
    loops: [announced(loopId, at)],
    overrides: createLedger(limits.max_overrides),
    ended: null,
  };
  return { ok: true, state };
}

export const announced = (loopId: string, at: string): LoopEntry => ({
  loop_id: loopId,
  opened_at: at,
  reviewing: false,
  verdict: null,
});

/** The current loop. A family always has at least the loop that opened it. */
export function currentLoop(state: GuardState): LoopEntry {
  const loop = state.loops.at(-1);
  if (loop === undefined) throw new RangeError(`family ${state.family} has no loop`);
  return loop;
}

export const originalLoopId = (state: GuardState): string => state.loops[0]?.loop_id ?? state.family;

/** The number of reruns: every loop but the first is one. */
export const rerunCount = (state: GuardState): number => state.loops.length - 1;

export const withCurrentLoop = (state: GuardState, change: Partial<LoopEntry>): GuardState => ({
  ...state,
  loops: [...state.loops.slice(0, -1), { ...currentLoop(state), ...change }],
});

/** Notes that the current loop's work is done and its reviewers are asked. */
export const beginReview = (state: GuardState): GuardState => withCurrentLoop(state, { reviewing: true });

/** Ends the family for a reason other than a guard: cancelled, out of budget, a system error. */
export const closeFamily = (state: GuardState, at: string): GuardState =>
  state.ended === null ? { ...state, ended: { at, finalize_reason: null, force_finalize: false } } : state;
