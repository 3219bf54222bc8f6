import { currentLoop } from './guard-state.ts';
import type { GuardState } from './guard-state.ts';
import type { LoopAnswer } from './loop-answer.ts';
import { overridesTaken, takeOverride } from './overrides.ts';
import type { Bound, OverrideEntry, OverrideRequest } from './overrides.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** What override-guardrails answers. */
export interface OverrideAnswer {
  status: 'success' | 'already_pending';
  loop_id: string;
  override_fatigue: boolean;
  override_max_reruns: boolean;
  overridden_by: string;
  override_reason: string | null;
  /** Only with `success`: the bound of a two-flag call that had an override pending already. */
  already_pending?: Bound[];
}

export interface Overridden {
  ok: true;
  state: GuardState;
  answer: OverrideAnswer;
}

/** Takes an override that `parseMessage` has accepted, unless the state of the family refuses it. */
export function applyOverride(
  state: GuardState,
  request: OverrideRequest,
  at: string,
  loopId: string = currentLoop(state).loop_id,
): Overridden | Refusal {
  if (!state.loops.some((loop) => loop.loop_id === loopId)) {
    return refuse('unknown_loop', `${loopId} is no loop of the family ${state.family}.`);
  }
  if (state.ended !== null)
    return refuse('ended', `The family ${state.family} has ended; nothing is left to override.`);
  const taken = takeOverride(state.overrides, request, at);
  if (!taken.ok) return taken;
  const answer: OverrideAnswer = {
    status: taken.status,
    loop_id: loopId,
    override_fatigue: request.override_fatigue === true,
    override_max_reruns: request.override_max_reruns === true,
    overridden_by: request.override_by,
    override_reason: request.override_reason ?? null,
    ...(taken.status === 'success' && taken.alreadyPending.length > 0 ? { already_pending: taken.alreadyPending } : {}),
  };
  return { ok: true, state: { ...state, overrides: taken.ledger }, answer };
}

/** The audit as people read it: after the end nothing is pending any more, so what was never needed is unused. */
export const overrideAudit = (state: GuardState): OverrideEntry[] =>
  state.overrides.entries.map((entry) =>
    state.ended !== null && entry.outcome === 'pending' ? { ...entry, outcome: 'unused' } : entry,
  );

/**
 * Whether a person could still turn this end into one more loop. With `on_guard: ask_human` a run asks before it keeps
 * such an answer: it drops the state that `completeLoop` gave, and completes the loop anew with both override flags when
 * the person says retry, which is one override.
 */
export function couldBeOverridden(stateBefore: GuardState, answer: LoopAnswer): boolean {
  const { decision_result: result } = answer;
  if (result.decision !== 'finalize' || !result.force_finalize || result.finalize_reason === 'bias_echo') return false;
  return overridesTaken(stateBefore.overrides) < stateBefore.overrides.max_overrides;
}
