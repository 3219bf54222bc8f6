import { enhancementArm } from '../retry/enhancement-arm.ts';
import { CAP } from '../../protocol/caps.ts';
import type { Json } from '../../protocol/json.ts';
import type { CallFailed, CallOutcome, RetryContext, ToolCallRequest } from '../../protocol/tools.ts';
import { type Attempt, buildRetryContext, type Step } from './attempts.ts';
import { isEffectDone, isEffectUnknown, keyOf, nextFence } from './known-effects.ts';
import { millisecondsLeft } from './ledger.ts';
import { isCancelled } from './life.ts';
import { isLiteral, type ResolvedPointers, resolvePointers } from './pointers.ts';
import type { Perform } from './run-step.ts';
import { waitUntilOver } from './settle-effect.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';
import { agentOfStep, runSubRun } from './sub-runs.ts';

/** Performs one attempt of a tool step: resolves its pointers and calls the tool, or starts another agent's run. */
export const callTool =
  (story: Story): Perform =>
  (step, attempt) => {
    const { state, ports } = story;
    const resolved = resolveInput(state, step);
    if (!resolved.ok) return Promise.resolve(unresolvedPointer(resolved.pointer));
    if (agentOfStep(state, step) !== null) return runSubRun(story, step, attempt, resolved.input);
    const timeLeftMs = Math.max(1, millisecondsLeft(state, ports.now()));
    const request = requestFor(state, step, attempt, {
      input: resolved.input,
      timeLeftMs,
      fence: nextFence(state, ports.now()),
    });
    const calling = ports.call(request);
    const canReconcile = state.run.manifest[step.call.tool]?.reconcile === true;
    return canReconcile ? reconcileUnknown(story, step, request, calling) : calling;
  };

/**
 * Asks the tool's own `reconcile` whether an effect of unknown outcome has happened, and uses its verdict as the
 * outcome.
 */
async function reconcileUnknown(
  story: Story,
  step: Step,
  request: ToolCallRequest,
  calling: Promise<CallOutcome>,
): Promise<CallOutcome> {
  const { state, ports } = story;
  const outcome = await calling;
  if (outcome.class !== 'failed' || !isReconcilable(state, step, outcome)) return outcome;
  // A verdict about an attempt that may still act would be worth nothing a moment later.
  await waitUntilOver(story, step, ports.now() + (outcome.may_act_ms ?? 0));
  const { may_act_ms: _over, ...known } = outcome;
  if (isCancelled(state)) return outcome;
  const timeLeftMs = Math.max(1_000, millisecondsLeft(state, ports.now()));
  const timeout_ms = Math.min(toolTimeoutMs(state, step, request.constraints) ?? timeLeftMs, timeLeftMs);
  const found = await ports.reconcile({
    ...request,
    timeout_ms,
    time_left_ms: timeLeftMs,
    // Higher than that of the attempt: a receiver that has seen it refuses the attempt if it comes late.
    fence: nextFence(state, ports.now()),
  });
  ports.log({ event: 'reconciled', step_id: step.step_id, attempt: request.attempt, verdict: found.verdict });
  switch (found.verdict) {
    case 'done': {
      const { verdict: _verdict, ...output } = found;
      return { class: 'ok', ...output, duration_ms: outcome.duration_ms };
    }
    case 'not_done':
      // It was not done when the tool looked, and an attempt that goes on can do it a moment later.
      return outcome.still_running === true
        ? { ...known, message_preview: withVerdict(outcome.message_preview) }
        : { ...known, certainty: 'failed' };
    case 'unknown':
      return known;
  }
}

const withVerdict = (said: string): string =>
  `${said}; reconcile says that it was not done until then`.slice(0, CAP.messagePreviewChars);

/** Also asked about an effect that is done with an output that cannot be used: it may give a usable one. */
const isReconcilable = (state: RunState, step: Step, failure: CallFailed): boolean =>
  isEffectUnknown(state, step, failure) || isEffectDone(state, step, failure);

function requestFor(
  state: RunState,
  step: Step,
  attempt: Attempt,
  { input, timeLeftMs, fence }: { input: Json; timeLeftMs: number; fence: number },
): ToolCallRequest {
  const { run, loop } = state;
  const { step_id, call } = step;
  const constraints = attempt.constraints ?? {};
  const retry = retryContextFor(state, step);
  const request: ToolCallRequest = {
    run_id: run.run_id,
    agent: run.agent,
    loop_id: loop.loop_id,
    step_id,
    attempt: attempt.n,
    phase: call.phase,
    tool: call.tool,
    input,
    guidance: attempt.guidance ?? { rows: [], text: '' },
    constraints,
    idempotency_key: keyOf(state, step),
    fence,
    timeout_ms: Math.min(toolTimeoutMs(state, step, constraints) ?? timeLeftMs, timeLeftMs),
    time_left_ms: timeLeftMs,
    waited_ms: attempt.waited_ms,
  };
  if (call.output_schema !== undefined) request.output_schema = call.output_schema;
  if (isLiteral(state, call)) request.literal = true;
  if (retry !== null) request.retry_context = retry;
  return request;
}

const toolTimeoutMs = (
  { run }: RunState,
  { call }: Step,
  { timeout_ms }: { timeout_ms?: number },
): number | undefined => timeout_ms ?? run.manifest[call.tool]?.timeout_ms;

/** The retry context for the prompt of this attempt. Null on a first attempt and when enhancement is off. */
export function retryContextFor({ run }: RunState, step: Step): RetryContext | null {
  return step.attempts.length > 1 && enhancementArm(run) === 'enhanced' ? buildRetryContext(step) : null;
}

const resolveInput = (state: RunState, step: Step): ResolvedPointers =>
  isLiteral(state, step.call) ? { ok: true, input: step.call.input } : resolvePointers(state, step.call.input);

const unresolvedPointer = (pointer: string): CallFailed => ({
  class: 'failed',
  certainty: 'not_started',
  origin: 'tool',
  category: 'pointer_unresolved',
  error_code: 'POINTER_UNRESOLVED',
  message_preview: `cannot resolve ${pointer}`,
  duration_ms: 0,
});
