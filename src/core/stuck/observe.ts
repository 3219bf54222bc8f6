import { callIdentity } from '../failures/call-identity.ts';
import { addOutcome, type LoopOutcome } from '../failures/loop-detector.ts';
import { createLoopWatch, liftStalls, type LoopPolicy, type LoopWatch } from '../failures/loop-watch.ts';
import { describeCall, type ObservedCall } from './call-features.ts';
import type { Limits } from './stuck-rules.ts';
import type { Verdict } from './verdict.ts';

/** The state of the detector for one agent: plain JSON of bounded size. */
export type StuckState = LoopWatch;
export const createStuckState: () => StuckState = createLoopWatch;

/**
 * Takes in one call of an agent and says what it shows. The result depends only on the arguments, and the work per call
 * does not grow with the number of calls. `limits` replaces the numbers of the rules, for measurements.
 *
 * @example
 *   let state = createStuckState();
 *   for (const call of calls) {
 *     const observed = observe(state, call, DEFAULT_POLICY.loops);
 *     state = observed.state;
 *     if (observed.verdict?.level === 'stuck') break;
 *   }
 */
export const observe = (
  before: StuckState,
  call: ObservedCall,
  policy: LoopPolicy,
  limits?: Limits,
): { state: StuckState; verdict: Verdict | null } => {
  const state = call.after_user === true ? liftStalls(before) : before;
  const number = state.calls + 1;
  const identity = callIdentity({ tool_name: call.tool, args: call.input, loop_key: call.input_id });
  const features = describeCall(call, identity, number);
  const { kind, outcome, writes } = features;
  const skipped = { ...state, calls: number };
  if (kind === 'skipped' || policy.ignore_tools.includes(call.tool)) return { state: skipped, verdict: null };
  if (kind === 'refused') return { state: liftStalls(skipped), verdict: null };
  const tool = { tool_name: call.tool, effect: writes ? undefined : ('read' as const) };
  const answer: LoopOutcome =
    kind === 'failed' ? { ok: false, fingerprint: outcome } : { ok: true, result_hash: outcome };
  const after = addOutcome(state, tool, answer, features, policy, limits);
  return { state: after.state, verdict: after.verdict };
};
