import type { UnknownEffect } from '../../protocol/effects.ts';
import type { CallFailed } from '../../protocol/tools.ts';
import { artifactOf, type Step } from './attempts.ts';
import {
  countDone,
  countInPass,
  describeCall,
  findEarlierEffect,
  identityOf,
  isDoneBefore,
  isEffectUnknown,
  isSideEffect,
  keepEffects,
  MOST_TOLD,
  noteUnknown,
  unknownEffectOf,
} from './known-effects.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/**
 * Answers a side effect with what the same call gave in an earlier pass, so that a rerun does not repeat it. A call that
 * differs in any way runs as usual. An effect whose output stays unknown answers in its own pass too, because a planner
 * would make the same call again only to get the output.
 */
export function answerFromEarlierPass({ state, ports }: Story, step: Step): void {
  const { kept, in_pass } = state.effects;
  if ((kept.length === 0 && in_pass === undefined) || !isSideEffect(state, step)) return;
  const { loop_id } = state.loop;
  const call = identityOf(state, step);
  const done = findEarlierEffect(state, call);
  if (done === undefined && !isDoneBefore(state, call)) return;
  const isSamePass = done?.loop_id === loop_id || done?.answered_in === loop_id;
  if (done !== undefined) done.answered_in = loop_id;
  if (!isSamePass) countInPass(state, call, 1);
  const { artifact_id = null, bytes = 0, known } = done ?? {};
  step.end =
    artifact_id === null || known !== undefined
      ? { kind: 'confirmed', known: known ?? DONE_BEFORE, artifact_id, bytes }
      : { kind: 'reused', artifact_id, bytes };
  ports.log({ event: 'effect_kept', step_id: step.step_id, tool: step.call.tool, done_in: done?.loop_id ?? null });
}
const DONE_BEFORE = 'This call took effect in an earlier pass. It did not run again.';

/** Keeps a call that has the same tool and input as an effect of unknown outcome from running. Returns whether it does. */
export function holdIfUnknown({ state, ports }: Story, step: Step): boolean {
  if (step.end !== null && step.end.kind !== 'stuck') return false;
  const effect = unknownEffectOf(state, step);
  if (effect === undefined) return false;
  step.end = { kind: 'held', effect };
  ports.log({ event: 'call_held', step_id: step.step_id, tool: step.call.tool, key: effect.key });
  return true;
}

/**
 * Splits a batch so that identical side effects run one after another: the second has to know how the first ended, or both
 * would have one idempotency key and the receiver would do only one of them.
 */
export function separateIdentical(state: RunState, steps: Step[]): { first: Step[]; rest: Step[] } {
  if (steps.length < 2) return { first: steps, rest: [] };
  const seen = new Set<string>();
  const first: Step[] = [];
  const rest: Step[] = [];
  for (const step of steps) {
    const identity = isSideEffect(state, step) ? identityOf(state, step) : null;
    if (identity !== null && seen.has(identity)) rest.push(step);
    else first.push(step);
    if (identity !== null) seen.add(identity);
  }
  return { first, rest };
}

/**
 * Records a side effect that is done. Each one answers one call in each later pass, so two equal effects answer two calls.
 * `known` says what is known of it if the tool did not return it itself.
 */
export function recordEffect(state: RunState, step: Step, bytes: number, known?: string): void {
  countDone(state, step);
  const mayComeAgain = state.run.plan !== null || state.run.planner === 'chooses';
  if (!mayComeAgain || !isSideEffect(state, step)) return;
  const effect = { call: identityOf(state, step), told: describeCall(step), artifact_id: artifactOf(step), bytes };
  keepEffects(state, [known === undefined ? effect : { ...effect, known }]);
}

/** Lets the effects that are done so far answer the calls of a new pass. */
export function openNextPass({ effects }: RunState): void {
  effects.in_pass = {};
}

/** Notes that the effect of a step that failed may have happened. Null if it is known whether it did. */
export function noteFailedEffect(state: RunState, step: Step): UnknownEffect | null {
  const attempt = step.end?.kind === 'failed' ? step.attempts.at(-1) : undefined;
  const failure = attempt?.outcome;
  if (failure?.class !== 'failed' || !isEffectUnknown(state, step, failure)) return null;
  const said = `${failure.error_code} ${failure.message_preview}`.trim();
  const known = `It is unknown whether this call took effect. It was started and failed: ${said}.`;
  const effect = noteUnknown(state, step, known);
  if (failure.may_act_ms !== undefined) effect.may_act_until = (attempt?.at ?? 0) + failure.may_act_ms;
  if (failure.still_running === true) effect.still_running = true;
  return effect;
}

/** Notes what became of a side effect that did not succeed, as far as it is known. */
export function recordOpenEffect(state: RunState, step: Step, failure: CallFailed | null): UnknownEffect | null {
  if (failure?.certainty === 'unknown') return noteFailedEffect(state, step);
  if (failure?.certainty === 'done' && isSideEffect(state, step)) {
    recordEffect(state, step, 0, `This call took effect, but its output cannot be used: ${failure.message_preview}`);
  }
  return null;
}

/** A call that was stopped while it was under way may have had its effect. */
export const recordCancelledEffect = (state: RunState, step: Step): UnknownEffect | null =>
  isSideEffect(state, step)
    ? noteUnknown(state, step, 'It is unknown whether this call took effect: it was cancelled while it was running.')
    : null;

/** Describes the latest effects for a planner that starts a new pass. */
export const summarizeEffects = ({ effects }: RunState): string[] =>
  effects.kept.slice(-MOST_TOLD).flatMap(({ told }) => told ?? []);

/** Describes the effects of unknown outcome for a planner that starts a new pass. */
export const summarizeUnknown = ({ effects }: RunState): string[] =>
  effects.unknown.slice(-MOST_TOLD).map(({ told, known }) => `${told}: ${known}`);
