import type { ToolEffect } from '../../protocol/tools.ts';
import type { CallToIdentify } from './call-identity.ts';
import { callIdentity } from './call-identity.ts';
import { findStall } from './loop-rules.ts';
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

export type LoopOutcome =
  | { ok: true; result_hash: string; probe_hash?: string | null | undefined }
  | { ok: false; fingerprint: string; probe_hash?: string | null | undefined };

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
}

const asStall = ({ rule, fingerprint, tool_name, start, end, repeats }: OpenStall): Stall => ({
  rule,
  fingerprint,
  tool_name,
  start,
  end,
  repeats,
});

/**
 * Decides whether a call that the agent chose may run. In a stall, the same call is answered with guidance twice and
 * then escalates. Other calls run, and lift the stall if they make progress. After every `run`, `afterCall` must be
 * called.
 */
export const beforeCall = (state: LoopWatch, call: LoopCall, policy: LoopPolicy): BeforeCall => {
  if (policy.ignore_tools.includes(call.tool_name)) return { action: 'run', state };
  const identity = callIdentity(call);
  const stall = state.stalls.find((open) => open.identities.includes(identity));
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

const resultKey = (call: LoopCall, outcome: LoopOutcome): string | null =>
  outcome.ok ? `${call.tool_name} ${outcome.result_hash}` : null;

/**
 * Progress is a changed result or probe. The first result of a call is progress if the tool has not returned it before.
 */
const madeProgress = (state: LoopWatch, call: LoopCall, outcome: LoopOutcome, seen: SeenCall | undefined): boolean => {
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
  const { [identity]: count, ...others } = underWay;
  return count === undefined || count <= 1 ? others : { ...others, [identity]: count - 1 };
};

/** Adds the outcome of a call to the state. A step with all its retries is one call. */
export const afterCall = (state: LoopWatch, call: LoopCall, outcome: LoopOutcome, policy: LoopPolicy): AfterCall => {
  if (policy.ignore_tools.includes(call.tool_name)) return { state, progress: false };
  const identity = callIdentity(call);
  const seen = state.seen_calls.find((one) => one.identity === identity);
  const progress = madeProgress(state, call, outcome, seen);
  const stretch = state.stretch + (progress ? 1 : 0);
  const number = state.calls + 1;
  const counted = countCall(seen, { identity, stretch, number }, outcome);
  const recent = [...state.recent, { identity, tool_name: call.tool_name, outcome: counted.outcome }];
  const result = resultKey(call, outcome);
  const results = result === null || state.seen_results.includes(result) ? [] : [result];
  const next: LoopWatch = {
    ...state,
    calls: number,
    stretch,
    seen_calls: [...state.seen_calls.filter((one) => one !== seen), counted].slice(-REMEMBERED),
    seen_results: [...state.seen_results, ...results].slice(-REMEMBERED),
    recent: recent.slice(-LONGEST_CYCLE),
    equal_run: state.equal_run.map((run, index) => {
      const before = recent.at(-1 - (index + SHORTEST_CYCLE));
      return !progress && before?.identity === identity && before.outcome === counted.outcome ? run + 1 : 0;
    }),
    under_way: withoutOne(state.under_way, identity),
    stalls: progress ? [] : state.stalls,
  };
  const found = findStall(next, counted, call.tool_name, policy);
  if (found === null) return { state: next, progress };
  const others = next.stalls.filter((open) => open.fingerprint !== found.stall.fingerprint);
  const stalls = [...others, found.stall].slice(-REMEMBERED);
  const kept = { ...next, stalls };
  return found.isNew ? { state: kept, progress, stall: asStall(found.stall) } : { state: kept, progress };
};
