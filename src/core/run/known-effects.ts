import { CAP } from '../../protocol/caps.ts';
import type { EffectsReport, InheritedEffects, SharedEffect, UnknownEffect } from '../../protocol/effects.ts';
import { callId, idempotencyKey } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';
import type { PreparedRun } from '../../protocol/run.ts';
import type { CallFailed, ToolEffect } from '../../protocol/tools.ts';
import type { Call, Step } from './attempts.ts';
import { hashCached } from './failure-records.ts';
import { isLiteral, pinPointers } from './pointers.ts';
import type { DoneEffect, KnownEffects, RunState } from './state.ts';

/**
 * What a run knows about the calls of its whole family: how many identical calls are done, and which effects are unknown. It
 * travels to sub-runs when they start and comes back with their results.
 */
export const openEffects = ({ inherited }: PreparedRun): KnownEffects => ({
  done: {},
  // Copies, so that what this run adds to them is seen as new when it reports.
  unknown: (inherited?.unknown ?? []).map((effect) => ({ ...effect })),
  settled: [],
  fence: inherited?.fence ?? 0,
  ...(inherited?.earlier !== undefined && { in_pass: {} }),
  kept: (inherited?.kept ?? []).map((effect) => ({ ...effect, loop_id: INHERITED, answered_in: null })),
});
/** The loop id of effects that the parent run has shared. It is no valid loop id, so it differs from all of them. */
const INHERITED = '';

/** Identities of calls. A call object never changes, and hashing costs more than everything else here. */
const identities = new WeakMap<Call, string>();

/** The identity of a call: equal tools and equal inputs, with pointers replaced by what they point to. */
export function identityOf(state: RunState, step: Step): string {
  const known = identities.get(step.call);
  if (known !== undefined) return known;
  const input_hash = hashCached(identifyingInput(state, step));
  const identity = callId(step.call.tool, input_hash);
  identities.set(step.call, identity);
  return identity;
}

/** A step of a user's own workflow may give no input. Nothing then tells its calls apart, so each is a call of its own. */
function identifyingInput(state: RunState, { call, step_id }: Step): Json {
  const { run } = state;
  const isGuarded = run.plan === null && run.planner === 'given';
  if (isGuarded && call.input === null) return { step_id, run_id: run.run_id };
  return isLiteral(state, call) ? call.input : pinPointers(state, call.input);
}

/** The effect that the step may have. An unknown tool counts as having a side effect. */
export const effectOf = ({ run }: RunState, { kind, call }: Step): ToolEffect =>
  kind === 'planner' ? 'read' : (run.manifest[call.tool]?.effect ?? 'side_effect');

/** True when a side effect was started and gave no answer, so it is not known whether it happened. */
export const isEffectUnknown = (state: RunState, step: Step, failure: CallFailed): boolean =>
  failure.certainty === 'unknown' && effectOf(state, step) === 'side_effect';

/** The side effect happened, and its output cannot be used. */
export const isEffectDone = (state: RunState, step: Step, failure: CallFailed): boolean =>
  failure.certainty === 'done' && effectOf(state, step) === 'side_effect';

export const isSideEffect = (state: RunState, step: Step): boolean =>
  step.kind === 'tool' && effectOf(state, step) === 'side_effect';

/**
 * The idempotency key of a step: root run, tool, input, and 1 + the number of identical calls before it that are known to be
 * done. It is fixed when the step first needs it, so all attempts of the step have the same key.
 */
export function keyOf(state: RunState, step: Step): string {
  if (step.key !== undefined) return step.key;
  const { run, effects } = state;
  const identity = identityOf(state, step);
  const done = (run.inherited?.done[identity] ?? 0) + (effects.done[identity] ?? 0);
  const { root_run_id = run.run_id, lane = '' } = run.inherited ?? {};
  step.key = idempotencyKey({ root_run_id, lane, call: identity, nth: 1 + done });
  return step.key;
}

/**
 * A number that grows with every attempt in the family of runs. It follows the clock, so that it also grows if a sub-run was
 * lost with what it knew.
 */
export function nextFence({ effects }: RunState, now: number): number {
  effects.fence = Math.max(now, effects.fence + 1);
  return effects.fence;
}

/**
 * Counts a call that is known to be done. Reads are not counted, because no receiver needs their keys and they would push out
 * payments. Beyond the cap the call that was first counted longest ago is forgotten.
 */
export function countDone(state: RunState, step: Step): void {
  if (effectOf(state, step) === 'read') return;
  const { done } = state.effects;
  const identity = identityOf(state, step);
  const before = done[identity];
  done[identity] = (before ?? 0) + 1;
  if (before === undefined) dropOldest(done);
  countInPass(state, identity, 1);
}

/** Counts a call of this pass that is done, or that an effect of an earlier pass has answered. */
export function countInPass({ effects }: RunState, identity: string, count: number): void {
  const { in_pass } = effects;
  if (in_pass !== undefined) in_pass[identity] = Math.max(0, (in_pass[identity] ?? 0) + count);
}

/** True when an earlier pass has done this call more often than the current pass has accounted for. */
export const isDoneBefore = (state: RunState, identity: string): boolean => countEarlier(state, identity) > 0;

function countEarlier({ run, effects }: RunState, identity: string): number {
  const { done, in_pass } = effects;
  if (in_pass === undefined) return 0;
  return (run.inherited?.earlier?.[identity] ?? 0) + (done[identity] ?? 0) - (in_pass[identity] ?? 0);
}

/** How many effects are kept with the id of their output. Older ones are only counted, and answer a call without it. */
const MOST_KEPT = CAP.planSteps;
/** How many effects travel to a sub-run or back with the id of their output. */
const MOST_SHARED = 50;
/** How many of the latest effects a planner is told about. */
export const MOST_TOLD = 10;

/** Keeps effects that are done, and drops the oldest. */
export function keepEffects({ effects, loop }: RunState, done: SharedEffect[]): void {
  const { kept } = effects;
  for (const effect of done) kept.push({ ...effect, loop_id: loop.loop_id, answered_in: null });
  if (kept.length > MOST_KEPT) kept.splice(0, kept.length - MOST_KEPT);
  // A description is the largest part of an effect, and the state is small.
  for (const old of kept.slice(-MOST_TOLD - done.length, -MOST_TOLD)) if (old.told !== undefined) delete old.told;
}

/** The effect that is done and can answer this call: one of an earlier pass that has not answered a call of this pass. */
export const findEarlierEffect = ({ effects, loop }: RunState, identity: string): DoneEffect | undefined =>
  effects.kept.find((effect) => effect.call === identity && canAnswer(effect, loop.loop_id));

const canAnswer = ({ closed, loop_id, answered_in }: DoneEffect, loopId: string): boolean =>
  closed === true || (loop_id !== loopId && answered_in !== loopId);

const toShared = ({ loop_id: _done, answered_in: _answered, ...effect }: DoneEffect): SharedEffect => effect;

function dropOldest(done: Record<string, number>): void {
  const keys = Object.keys(done);
  if (keys.length <= CAP.countedCalls) return;
  for (const key of keys.slice(0, Math.max(0, keys.length - CAP.countedCalls))) delete done[key];
}

/** A person says that a call which was counted as done had no effect after all. */
export function uncountDone(state: RunState, step: Step): void {
  const { done } = state.effects;
  const identity = identityOf(state, step);
  if ((done[identity] ?? 0) === 0) return;
  done[identity] = (done[identity] ?? 0) - 1;
  countInPass(state, identity, -1);
}

/** The unknown effect that keeps an identical call from running, or undefined. */
export function unknownEffectOf(state: RunState, step: Step): UnknownEffect | undefined {
  if (state.effects.unknown.length === 0 || !isSideEffect(state, step)) return undefined;
  const identity = identityOf(state, step);
  return state.effects.unknown.find(({ call }) => call === identity);
}

/** Notes that the effect of this step may have happened. A second note about the same attempt changes nothing. */
export function noteUnknown(state: RunState, step: Step, known: string): UnknownEffect {
  const key = keyOf(state, step);
  const before = state.effects.unknown.find((effect) => effect.key === key);
  if (before !== undefined) return before;
  const effect = { call: identityOf(state, step), key, told: describeCall(step), known };
  state.effects.unknown.push(effect);
  // A person said that it was not done, it ran again, and now it is unknown again.
  state.effects.settled = state.effects.settled.filter((settled) => settled !== key);
  return effect;
}

/** The effect is not unknown any more: a person said that it happened, or that it did not. */
export function settleUnknown({ effects }: RunState, { key }: UnknownEffect): void {
  effects.unknown = effects.unknown.filter((effect) => effect.key !== key);
  if (!effects.settled.includes(key)) effects.settled.push(key);
}

const TOLD_CHARS = 200;
export const describeCall = ({ call }: Step): string =>
  `${call.tool} ${JSON.stringify(call.input)}`.slice(0, TOLD_CHARS);

/** What a sub-run has to know. One that works beside other steps gets a lane, so that equal calls do not share a key. */
export function shareEffects(state: RunState, lane: string | null): InheritedEffects {
  const { run, effects, loop } = state;
  const { inherited } = run;
  const done = { ...inherited?.done };
  for (const [call, count] of Object.entries(effects.done)) done[call] = (done[call] ?? 0) + count;
  return {
    root_run_id: inherited?.root_run_id ?? run.run_id,
    lane: lane ?? inherited?.lane ?? '',
    done,
    unknown: effects.unknown,
    ...(effects.in_pass !== undefined && { earlier: findEarlierCounts(state, done) }),
    kept: effects.kept
      .filter((effect) => canAnswer(effect, loop.loop_id))
      .slice(-MOST_SHARED)
      .map(toShared),
    fence: effects.fence,
  };
}

const findEarlierCounts = (state: RunState, done: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.keys(done)
      .map((call) => [call, countEarlier(state, call)] as const)
      .filter(([, count]) => count > 0),
  );

/** What this run found out, for the run that it works for. */
export function reportEffects({ run, effects }: RunState): EffectsReport | undefined {
  // A run that works for no other one tells only what is unknown, for a person who reads it or starts it again.
  if (run.inherited === undefined || run.inherited.root_run_id === run.run_id) {
    return effects.unknown.length === 0
      ? undefined
      : { done: {}, unknown: effects.unknown, settled: [], fence: effects.fence };
  }
  const inherited = new Map(run.inherited.unknown.map((effect) => [effect.key, effect]));
  const isNews = ({ key, known, may_act_until }: UnknownEffect): boolean => {
    const before = inherited.get(key);
    return before === undefined || before.known !== known || before.may_act_until !== may_act_until;
  };
  return {
    done: effects.done,
    unknown: effects.unknown.filter(isNews),
    settled: effects.settled.filter((key) => inherited.has(key)),
    answered: countAnswered(run.inherited.earlier ?? {}, effects.in_pass ?? {}),
    kept: effects.kept
      .filter(({ loop_id }) => loop_id !== INHERITED)
      .slice(-MOST_SHARED)
      .map(toShared),
    fence: effects.fence,
  };
}

/** An inherited effect answers before one that the sub-run has done itself. */
const countAnswered = (earlier: Record<string, number>, inPass: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(inPass).flatMap(([call, count]) => {
      const answered = Math.min(count, earlier[call] ?? 0);
      return answered > 0 ? [[call, answered]] : [];
    }),
  );

/** Takes in what a sub-run reports. What it says about an effect replaces what was known before. */
export function mergeEffects(state: RunState, report: EffectsReport | undefined): void {
  if (report === undefined) return;
  const { effects } = state;
  for (const [call, count] of Object.entries(report.done)) {
    effects.done[call] = (effects.done[call] ?? 0) + count;
    countInPass(state, call, count);
  }
  dropOldest(effects.done);
  for (const [call, count] of Object.entries(report.answered ?? {})) {
    countInPass(state, call, count);
    const { loop_id } = state.loop;
    const earlier = effects.kept.filter((effect) => effect.call === call && canAnswer(effect, loop_id));
    for (const effect of earlier.slice(0, count)) effect.answered_in = loop_id;
  }
  keepEffects(state, report.kept ?? []);
  const told = new Set([...report.settled, ...report.unknown.map(({ key }) => key)]);
  effects.unknown = [...effects.unknown.filter(({ key }) => !told.has(key)), ...report.unknown];
  effects.settled = [...effects.settled.filter((key) => !told.has(key)), ...report.settled];
  effects.fence = Math.max(effects.fence, report.fence);
}
