import type { Finding } from '../stuck/stuck-rules.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { LoopPolicy, LoopRule, LoopWatch, OpenStall, SeenCall } from './loop-watch.ts';
import { LONGEST_CYCLE, SHORTEST_CYCLE } from './loop-watch.ts';

/** Computes the fingerprint of a stall from its rule and the repeated calls. An agent's text is not part of it. */
export const stallFingerprint = (rule: LoopRule, tool_name: string | null, identities: readonly string[]): string =>
  fingerprintOf({ signal_type: 'loop_stall', tool_name, error_code: rule, chunk_ids: identities });

const single = (
  rule: LoopRule,
  toolName: string,
  { identity, start, end, repeats }: { identity: string; start: number; end: number; repeats: number },
): OpenStall => ({
  rule,
  fingerprint: stallFingerprint(rule, toolName, [identity]),
  tool_name: toolName,
  start,
  end,
  repeats,
  identities: [identity],
  guided: 0,
});

/** Finds a cycle of two to four calls in the same order, with the same outcomes, for enough rounds. */
const cycle = (state: LoopWatch, policy: LoopPolicy): OpenStall | null => {
  for (let length = SHORTEST_CYCLE; length <= LONGEST_CYCLE; length += 1) {
    const run = state.equal_run[length - SHORTEST_CYCLE] ?? 0;
    if (run < length * (policy.cycle_rounds - 1)) continue;
    const calls = state.recent.slice(-length);
    const identities = [...new Set(calls.map((call) => call.identity))].sort();
    // The repetition of a single call has its own rules.
    if (identities.length < 2) continue;
    const tool_name = calls.map((call) => call.tool_name).sort()[0] ?? null;
    return {
      rule: 'cycle',
      fingerprint: stallFingerprint('cycle', tool_name, identities),
      tool_name,
      start: state.calls - run - length + 1,
      end: state.calls,
      repeats: Math.floor(run / length) + 1,
      identities,
      guided: 0,
    };
  }
  return null;
};

const broken = (state: LoopWatch, call: SeenCall, toolName: string, policy: LoopPolicy): OpenStall | null => {
  const at = { identity: call.identity, end: state.calls };
  if (call.fails >= policy.same_error && call.outcome.startsWith('failed')) {
    return single('same_call_failing', toolName, { ...at, start: call.fails_since, repeats: call.fails });
  }
  if (call.same >= policy.same_outcome) {
    return single('same_call_same_outcome', toolName, { ...at, start: call.same_since, repeats: call.same });
  }
  return cycle(state, policy);
};

const roundsNow = (state: LoopWatch, call: SeenCall, open: OpenStall): number => {
  if (open.rule === 'cycle') return Math.floor((state.calls - open.start + 1) / open.identities.length);
  return open.rule === 'same_call_failing' ? call.fails : call.same;
};

/**
 * Finds the rule that the latest call broke, if any. A stall that is already open for this call only grows; it is
 * reported once, even if more rules match later.
 */
export const findStall = (
  state: LoopWatch,
  call: SeenCall,
  toolName: string,
  policy: LoopPolicy,
): { stall: OpenStall; isNew: boolean } | null => {
  const open = state.stalls.find((stall) => stall.identities.includes(call.identity));
  if (!open) {
    const stall = broken(state, call, toolName, policy);
    return stall && { stall, isNew: true };
  }
  return {
    stall: { ...open, end: state.calls, repeats: Math.max(open.repeats, roundsNow(state, call, open)) },
    isNew: false,
  };
};

/** Finds equal calls that are one repetition or one round away from a stall. */
export const findExactSuspicion = (
  state: LoopWatch,
  call: SeenCall,
  toolName: string,
  policy: LoopPolicy,
): OpenStall | null => {
  // Two equal answers are common in honest work, so a suspicion needs three.
  const same_outcome = Math.max(3, policy.same_outcome - 1);
  const cycle_rounds = Math.max(2, policy.cycle_rounds - 1);
  if (call.outcome.startsWith('ok') && call.same >= same_outcome) {
    const counts = { identity: call.identity, start: call.same_since, end: state.calls, repeats: call.same };
    return single('same_call_same_outcome', toolName, counts);
  }
  return cycle(state, { ...policy, cycle_rounds });
};

/**
 * Opens the stall of a finding about varied calls, or extends it. It has no identities: the next call of the tool may
 * run, because it may be the one that works.
 */
export const varyingStall = (
  state: LoopWatch,
  { rule, calls }: Finding,
): { stall: OpenStall; isNew: boolean } | null => {
  const last = calls.at(-1);
  const first = calls[0];
  if (first === undefined || last === undefined) return null;
  const about = rule === 'same_error' || rule === 'edit_run' ? [last.outcome] : [];
  const fingerprint = stallFingerprint(rule, last.tool, about);
  const open = state.stalls.find((stall) => stall.any_input === true && stall.tool_name === last.tool);
  const now = { end: state.calls, identities: [] as string[], any_input: true as const };
  if (open !== undefined) {
    const repeats = Math.max(open.repeats + 1, calls.length);
    return { stall: { ...open, ...now, repeats, guided: open.guided + 1 }, isNew: false };
  }
  const found = { rule, fingerprint, tool_name: last.tool, start: first.n, repeats: calls.length, guided: 0 };
  return { stall: { ...found, ...now }, isNew: true };
};
