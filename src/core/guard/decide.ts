import { defined } from '../../protocol/json.ts';
import type { ToolEffect } from '../../protocol/tools.ts';
import { callIdentity } from '../failures/call-identity.ts';
import { findHoldingStall } from '../failures/loop-detector.ts';
import { describeFailure, fingerprintAnswer } from '../inspect/inspected-failure.ts';
import { addVerdict, type InspectedLoop } from '../inspect/inspected-loop.ts';
import { plainText } from '../stuck/call-features.ts';
import { observe } from '../stuck/observe.ts';
import { describeHeld, describeStop, describeSuspicion } from './guard-texts.ts';
import type { GuardSettings, GuardState } from './guard-state.ts';

/** A call that an agent wants to make. */
export interface GuardedCall {
  tool: string;
  input: unknown;
  /** What the tool can change. Absent if that is not declared; then its name and input decide. */
  effect?: ToolEffect | undefined;
}

/** A call that ran, with its output, or with the error that it failed with. */
export interface AnsweredCall extends GuardedCall {
  output?: unknown;
  error?: unknown;
}

interface Decision<Verdict extends string> {
  verdict: Verdict;
  /** What to tell the agent. Absent if there is nothing to say. */
  text?: string;
  /** The stretch that led to the verdict. In `observe` mode it is set although nothing is said. */
  loop?: InspectedLoop;
}
export type BeforeDecision = Decision<'allow' | 'guide' | 'ask' | 'deny'>;
export type AfterDecision = Decision<'continue' | 'guide' | 'ask' | 'stop'>;

const LOOPS = 50;
const FAILURES = 50;

/**
 * Decides about a call before it runs. A call that would only continue a stretch in which the agent is stuck is denied
 * in `enforce` mode, and it counts as a call, because the agent has made it.
 */
export const decideBefore = (
  state: GuardState,
  { tool, input }: GuardedCall,
  { mode, loops: policy, on_guard }: GuardSettings,
): { state: GuardState; decision: BeforeDecision } => {
  const allowed = { state, decision: { verdict: 'allow' } as const };
  // Without an open stall nothing is hashed, which is the common case.
  if (state.watch.stalls.length === 0 || policy.ignore_tools.includes(tool)) return allowed;
  const call = { tool_name: tool, args: input };
  const stall = findHoldingStall(state.watch, call, callIdentity(call));
  const loop = state.loops.at(-1);
  if (stall === undefined || loop === undefined) return allowed;
  if (mode === 'observe') return { state, decision: { verdict: 'allow', loop } };
  if (mode === 'guide') return { state, decision: { verdict: 'guide', text: describeSuspicion(loop), loop } };
  const counted = { ...state, watch: { ...state.watch, calls: state.watch.calls + 1 } };
  const verdict = on_guard === 'ask_human' ? 'ask' : 'deny';
  return { state: counted, decision: { verdict, text: describeHeld(loop), loop } };
};

const textOf = (value: unknown): string =>
  value instanceof Error ? value.message || value.name : plainText(value ?? '');

/** Takes in a call that ran and decides whether the agent may go on. */
export const decideAfter = (
  state: GuardState,
  call: AnsweredCall,
  settings: GuardSettings,
): { state: GuardState; decision: AfterDecision } => {
  const { tool, input, effect } = call;
  const error = call.error === undefined ? undefined : true;
  const text = textOf(error ? call.error : call.output);
  const writes = effect === undefined ? undefined : effect !== 'read';
  const observed = observe(state.watch, { tool, input, output: text, error, writes }, settings.loops);
  const failures = countFailure(state.failures, { tool, text, error });
  const seen = { ...state, watch: observed.state, failures };
  if (observed.verdict === null) return { state: seen, decision: { verdict: 'continue' } };
  const loops = addVerdict(state.loops, observed.verdict).slice(-LOOPS);
  const loop = loops.at(-1);
  const decision = decideOn(observed.verdict.level, loop, settings);
  const isStopped = decision.verdict === 'stop' || decision.verdict === 'ask';
  return { state: { ...seen, loops, ...(isStopped && loop && { stopped: loop }) }, decision };
};

const decideOn = (
  level: InspectedLoop['level'],
  loop: InspectedLoop | undefined,
  { mode, on_guard }: GuardSettings,
): AfterDecision => {
  if (loop === undefined || mode === 'observe') return { verdict: 'continue', ...defined({ loop }) };
  if (level === 'suspect' || mode === 'guide') return { verdict: 'guide', text: describeSuspicion(loop), loop };
  return { verdict: on_guard === 'ask_human' ? 'ask' : 'stop', text: describeStop(loop), loop };
};

const countFailure = (
  failures: GuardState['failures'],
  answer: { tool: string; text: string; error: boolean | undefined },
): GuardState['failures'] => {
  const fingerprint = fingerprintAnswer(answer);
  if (fingerprint === null) return failures;
  const known = failures.find((failure) => failure.fingerprint === fingerprint);
  if (known === undefined) return [...failures, describeFailure(fingerprint, answer)].slice(-FAILURES);
  return failures.map((failure) => (failure === known ? { ...known, count: known.count + 1 } : failure));
};
