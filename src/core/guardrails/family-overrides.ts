import { currentLoop } from './guard-state.ts';
import type { GuardState } from './guard-state.ts';
import type { LoopAnswer } from './loop-answer.ts';
import { countOverrides, addOverride } from './overrides.ts';
import type { LiftableLimit, OverrideEntry, OverrideRequest } from './overrides.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** The answer of override-guardrails. */
export interface OverrideAnswer {
  status: 'success' | 'already_pending';
  loop_id: string;
  override_fatigue: boolean;
  override_max_reruns: boolean;
  overridden_by: string;
  override_reason: string | null;
  /** Only with `success`: the limits of this call that already had an override pending. */
  already_pending?: LiftableLimit[];
}

export interface Overridden {
  ok: true;
  state: GuardState;
  answer: OverrideAnswer;
}

/** Applies an override that `parseMessage` has accepted, or refuses it because of the family's state. */
export function applyOverride(
  state: GuardState,
  request: OverrideRequest,
  at: string,
  loopId: string = currentLoop(state).loop_id,
): Overridden | Refusal {
  if (!state.loops.some((loop) => loop.loop_id === loopId)) {
    return refuse('unknown_loop', `${loopId} is not a loop of the family ${state.family}.`);
  }
  if (state.ended !== null)
    return refuse('ended', `The family ${state.family} has ended; nothing is left to override.`);
  const taken = addOverride(state.overrides, request, at);
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

/**
 * The audit of overrides. After the family has ended nothing is pending any more, so overrides that were not needed are
 * shown as unused.
 */
export const listOverrides = (state: GuardState): OverrideEntry[] =>
  state.overrides.entries.map((entry) =>
    state.ended !== null && entry.outcome === 'pending' ? { ...entry, outcome: 'unused' } : entry,
  );

/**
 * True if a person could still override this end with one more loop. With `on_guard: ask_human` a run asks before it
 * keeps such an answer. If the person says retry, the run drops the state that `completeLoop` returned and completes
 * the loop again with both override flags, which count as one override.
 */
export function canBeOverridden(stateBefore: GuardState, answer: LoopAnswer): boolean {
  const { decision_result: result } = answer;
  if (result.decision !== 'finalize' || !result.force_finalize || result.finalize_reason === 'bias_echo') return false;
  return countOverrides(stateBefore.overrides) < stateBefore.overrides.max_overrides;
}
