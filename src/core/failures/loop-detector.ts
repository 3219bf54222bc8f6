import type { ToolEffect } from '../../protocol/tools.ts';
import { type CallFeatures, describeCall, type ObservedCall } from '../stuck/call-features.ts';
import { addCall, append, createSeenFeatures } from '../stuck/seen-features.ts';
import { type Finding, findVaried, type Limits } from '../stuck/stuck-rules.ts';
import { type Verdict, verdictOf } from '../stuck/verdict.ts';
import type { CallToIdentify } from './call-identity.ts';
import { callIdentity } from './call-identity.ts';
import { findExactSuspicion, findStall, varyingStall } from './loop-rules.ts';
import type { LoopPolicy, LoopWatch, OpenStall, SeenCall, Stall } from './loop-watch.ts';
import { GUIDED_CALLS, LONGEST_CYCLE, SHORTEST_CYCLE } from './loop-watch.ts';

/** How many distinct calls and results are remembered. A call that comes back after more others counts as new. */
const REMEMBERED = 64;

export interface LoopCall extends CallToIdentify {
  /**
   * For a tool that can change something, a call with new arguments counts as progress. For a `read`, only a new result
   * does.
   */
  effect?: ToolEffect | undefined;
}

type ChosenTool = Pick<LoopCall, 'tool_name' | 'effect'>;

interface Answered {
  probe_hash?: string | null | undefined;
  /** The answer or the error message. Without it, only equal calls are compared. */
  text?: unknown;
}
export type LoopOutcome = Answered & ({ ok: true; result_hash: string } | { ok: false; fingerprint: string });

export type BeforeCall =
  | { action: 'run'; state: LoopWatch }
  /** As many equal calls are in flight as a rule allows. Ask again when one of them has returned. */
  | { action: 'defer'; state: LoopWatch }
  | { action: 'guide' | 'escalate'; state: LoopWatch; stall: Stall };

export interface AfterCall {
  state: LoopWatch;
  progress: boolean;
  /** Set once, by the call that completed the stall. */
  stall?: Stall;
  /** What this call shows. It is set by every call of a stall, not only by the first. */
  verdict: Verdict | null;
}

const asStall = ({ rule, fingerprint, tool_name, start, end, repeats }: OpenStall): Stall => ({
  rule,
  fingerprint,
  tool_name,
  start,
  end,
  repeats,
});

/** A stall with any input that guidance did not end: from now on every call of its tool escalates. */
const isSpent = (open: OpenStall, call: LoopCall): boolean =>
  open.any_input === true && open.tool_name === call.tool_name && open.guided >= GUIDED_CALLS;

/** Returns the open stall that a call would continue, or undefined if the call may run. */
export const findHoldingStall = (state: LoopWatch, call: LoopCall, identity: string): OpenStall | undefined =>
  state.stalls.find((open) => open.identities.includes(identity) || isSpent(open, call));

/**
 * Decides whether a call that the agent chose may run. In a stall, the same call is answered with guidance twice and
 * then escalates. Other calls run, and lift the stall if they make progress. After every `run`, `afterCall` must be
 * called.
 */
export const beforeCall = (state: LoopWatch, call: LoopCall, policy: LoopPolicy): BeforeCall => {
  if (policy.ignore_tools.includes(call.tool_name)) return { action: 'run', state };
  const identity = callIdentity(call);
  const stall = findHoldingStall(state, call, identity);
  if (stall) {
    if (stall.guided >= GUIDED_CALLS) return { action: 'escalate', state, stall: asStall(stall) };
    const stalls = state.stalls.map((open) => (open === stall ? { ...open, guided: open.guided + 1 } : open));
    return { action: 'guide', state: { ...state, calls: state.calls + 1, stalls }, stall: asStall(stall) };
  }
  const underWay = state.under_way[identity] ?? 0;
  const seen = state.seen_calls.find((one) => one.identity === identity && one.stretch === state.stretch);
  const mayStall =
    (seen?.same ?? 0) + underWay >= policy.same_outcome ||
    (seen !== undefined && seen.fails > 0 && seen.fails + underWay >= policy.same_error);
  if (underWay > 0 && mayStall) return { action: 'defer', state };
  return { action: 'run', state: { ...state, under_way: { ...state.under_way, [identity]: underWay + 1 } } };
};

const resultKey = (call: ChosenTool, outcome: LoopOutcome): string | null =>
  outcome.ok ? `${call.tool_name} ${outcome.result_hash}` : null;

/**
 * Progress is a changed result or probe. The first result of a call is progress if the tool has not returned it before.
 */
const madeProgress = (
  state: LoopWatch,
  call: ChosenTool,
  outcome: LoopOutcome,
  seen: SeenCall | undefined,
): boolean => {
  if (seen?.probe && outcome.probe_hash && seen.probe !== outcome.probe_hash) return true;
  if (!outcome.ok) return false;
  if (seen?.result) return seen.result !== outcome.result_hash;
  if (call.effect !== 'read' && seen === undefined) return true;
  return !state.seen_results.includes(resultKey(call, outcome) ?? '');
};

const countCall = (
  seen: SeenCall | undefined,
  now: { identity: string; stretch: number; number: number },
  outcome: LoopOutcome,
): SeenCall => {
  const { identity, stretch, number } = now;
  const counted = seen?.stretch === stretch ? seen : undefined;
  const what = outcome.ok ? `ok ${outcome.result_hash}` : `failed ${outcome.fingerprint}`;
  const again = counted?.outcome === what ? counted : undefined;
  return {
    identity,
    outcome: what,
    result: outcome.ok ? outcome.result_hash : (seen?.result ?? null),
    probe: outcome.probe_hash ?? seen?.probe ?? null,
    stretch,
    same: (again?.same ?? 0) + 1,
    same_since: again?.same_since ?? number,
    fails: (counted?.fails ?? 0) + (outcome.ok ? 0 : 1),
    fails_since: counted && counted.fails > 0 ? counted.fails_since : number,
  };
};

const withoutOne = (underWay: Record<string, number>, identity: string): Record<string, number> => {
  if (underWay[identity] === undefined) return underWay;
  const { [identity]: count, ...others } = underWay;
  return count === undefined || count <= 1 ? others : { ...others, [identity]: count - 1 };
};

/** Adds the outcome of a call to the state. A step with all its retries is one call. */
export const afterCall = (state: LoopWatch, call: LoopCall, outcome: LoopOutcome, policy: LoopPolicy): AfterCall => {
  if (policy.ignore_tools.includes(call.tool_name)) return { state, progress: false, verdict: null };
  const features = describeCall(observed(call, outcome), callIdentity(call), state.calls + 1);
  return addOutcome(state, call, outcomeBy(features, outcome), features, policy);
};

/** An answer that says that the call failed is a failure, whatever the tool calls it. */
const outcomeBy = ({ kind, outcome }: CallFeatures, given: LoopOutcome): LoopOutcome =>
  given.ok && kind === 'failed' ? { ok: false, fingerprint: outcome, probe_hash: given.probe_hash } : given;

/** As `afterCall`, for a call whose features are known. */
export const addOutcome = (
  state: LoopWatch,
  call: ChosenTool,
  outcome: LoopOutcome,
  features: CallFeatures,
  policy: LoopPolicy,
  limits?: Limits,
): AfterCall => {
  const identity = features.call;
  const seenAt = state.seen_calls.findIndex((one) => one.identity === identity);
  const seen = state.seen_calls[seenAt];
  const progress = madeProgress(state, call, outcome, seen);
  const stretch = state.stretch + (progress ? 1 : 0);
  const number = state.calls + 1;
  const counted = countCall(seen, { identity, stretch, number }, outcome);
  const result = resultKey(call, outcome);
  const isNewResult = result !== null && !state.seen_results.includes(result);
  const seen_features = addCall(state.seen_features ?? createSeenFeatures(), features);
  const now = seen_features.recent.at(-1);
  const varied = now?.n === number ? findVaried(seen_features.recent, policy.same_error, limits) : null;
  const open = stallsAfter(state.stalls, progress, now, varied);
  // Lists are copied at most once here, because this runs for every call of every agent.
  const settled: LoopWatch = {
    calls: number,
    messages: state.messages,
    stretch,
    seen_calls: append(seenAt === -1 ? state.seen_calls : state.seen_calls.toSpliced(seenAt, 1), counted, REMEMBERED),
    seen_results: isNewResult ? append(state.seen_results, result, REMEMBERED) : state.seen_results,
    seen_messages: state.seen_messages,
    recent: append(state.recent, { identity, tool_name: call.tool_name, outcome: counted.outcome }, LONGEST_CYCLE),
    equal_run: state.equal_run.map((run, index) => {
      const before = state.recent.at(-(index + SHORTEST_CYCLE));
      return !progress && before?.identity === identity && before.outcome === counted.outcome ? run + 1 : 0;
    }),
    under_way: withoutOne(state.under_way, identity),
    stalls: open.stalls,
    seen_features: open.lifted ? createSeenFeatures() : seen_features,
  };
  const exact = findStall(settled, counted, call.tool_name, policy);
  const found = exact ?? (varied?.level === 'stuck' ? varyingStall(settled, varied) : null);
  if (found === null) {
    const verdict = verdictOf('suspect', findExactSuspicion(settled, counted, call.tool_name, policy), varied);
    if (verdict === null) return { state: settled, progress, verdict };
    const { rule, tool_name, repeats } = verdict;
    return { state: { ...settled, suspicion: { rule, tool_name, repeats } }, progress, verdict };
  }
  const others = settled.stalls.filter((one) => one.fingerprint !== found.stall.fingerprint);
  const stalled = { ...settled, stalls: [...others, found.stall].slice(-REMEMBERED) };
  const verdict = verdictOf('stuck', found.stall, exact === null ? varied : null);
  return { state: stalled, progress, verdict, ...(found.isNew && { stall: asStall(found.stall) }) };
};

const observed = (call: LoopCall, outcome: LoopOutcome): ObservedCall => ({
  tool: call.tool_name,
  input: call.args,
  output: outcome.text,
  output_id: `${outcome.ok ? outcome.result_hash : outcome.fingerprint} ${outcome.probe_hash ?? ''}`,
  error: !outcome.ok,
  writes: call.effect === undefined ? undefined : call.effect !== 'read',
});

/**
 * Progress ends the stalls of equal calls. A stall with any input ends with a good answer that shows no sign of it: an
 * answer of its tool, or something newly read. What led to it is forgotten then, so that the next single error does not
 * open it again. For rounds of changes and runs only the run counts, because the changes are part of the stall.
 */
const stallsAfter = (
  stalls: OpenStall[],
  progress: boolean,
  now: CallFeatures | undefined,
  varied: Finding | null,
): { stalls: OpenStall[]; lifted: boolean } => {
  if (stalls.length === 0) return { stalls, lifted: false };
  const isGood = varied === null && now?.kind === 'ok' && now.fresh;
  const endsWith = (open: OpenStall): boolean =>
    isGood && (now.tool === open.tool_name || (open.rule !== 'edit_run' && !now.writes));
  const kept = stalls.filter((open) => (open.any_input === true ? !endsWith(open) : !progress));
  return { stalls: kept, lifted: stalls.some((open) => open.any_input === true && endsWith(open)) };
};
