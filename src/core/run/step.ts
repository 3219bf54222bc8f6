import type { Json } from '../../protocol/json.ts';
import { idempotencyKey } from '../../protocol/ids.ts';
import type { Amounts } from '../../protocol/run.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallFailed, CallOutcome, Guidance, ToolCallRequest, ToolEffect } from '../../protocol/tools.ts';
import { decideRetry } from '../retry/retry-decision.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import { retryBackoff } from '../retry/log-events.ts';
import { noteEvaluatedAttempt } from './evaluations.ts';
import { askMemory, failedAction } from './lessons.ts';
import { limitsOf } from './ledger.ts';
import { noteAttempt, recordFailure, toldBefore } from './memory.ts';
import type { OutboxWriter } from './outbox.ts';
import { resolvePointers } from './pointers.ts';
import type { RunPorts } from './ports.ts';
import { millisecondsLeft } from './seconds.ts';
import type { RunState, StepInFlight } from './state.ts';
import { agentOfStep, performSubRun } from './sub-runs.ts';

/** Does one attempt and says how it ended. Tools and planner turns differ only in this. */
export type Perform = (step: StepInFlight, guidance: Guidance) => Promise<CallOutcome>;

/**
 * One guarded step: tries, records what failed, waits, tries again with guidance, and stops when its strategy or the
 * run's budget says so. Never asks a person: that is decided for the whole batch, in step order.
 */
export async function runStep(
  state: RunState,
  ports: RunPorts,
  writer: OutboxWriter,
  step: StepInFlight,
  perform: Perform,
): Promise<void> {
  /** The memory is asked beside the back-off; what it knows is there when the next attempt begins. */
  let remembering: Promise<void> | null = null;
  for (;;) {
    const spent = spentBudget(state, ports, step) ?? outlasts(state, ports, step.owed_wait_ms);
    if (spent !== null) {
      if (remembering !== null) await remembering;
      return end(step, { kind: 'budget', budget: spent });
    }
    if (step.owed_wait_ms > 0) await backOff(state, ports, step);
    else step.waited_ms = 0;
    if (remembering !== null) await remembering;
    if (state.cancel !== null) return end(step, { kind: 'cancelled' });

    step.attempt += 1;
    state.ledger.used[drawsOn(step)] += 1;
    const { guidance, constraints } = toldBefore(state, step);
    step.constraints = constraints;
    const told = await perform(step, guidance);
    const outcome = isUnsure(state, step, told) ? await settleUnknown(state, ports, step, guidance, told) : told;
    const now = ports.now();
    state.updated_at = now;

    if (outcome.class === 'cancelled') return end(step, { kind: 'cancelled' });
    noteEvaluatedAttempt(state, step, outcome);
    if (outcome.class === 'ok') {
      noteAttempt(state, step, guidance, { ok: true, query: outcome.query ?? null }, now);
      return end(step, { kind: 'ok', outcome });
    }

    const effect = effectOf(state, step);
    const decision = decideRetry({
      category: outcome.category,
      retries_used: step.retries_used,
      infrastructure_used: step.infrastructure_used,
      certainty: outcome.certainty,
      effect,
      retry_after_ms: outcome.retry_after_ms,
      policy: state.run.policy.retry,
      seed: `${state.run.run_id}:${step.step_id}`,
    });
    // What a person allowed is one more attempt, not a new round of retries; a lost worker does not use it up.
    const used = step.single_attempt && !isInfrastructure(outcome.category);
    const record = noteFailure(state, ports, step, guidance, outcome, decision.retry && !used, now);
    writer.kick();
    remembering = record === null ? null : askMemory(state, ports, step, record);
    if (!decision.retry || used) {
      if (remembering !== null) await remembering;
      const reason = decision.retry ? 'limit_reached' : decision.reason;
      const observed = record?.observed_outcome.kind ?? 'exception';
      return end(step, {
        kind: 'failed',
        failure: outcome,
        observed,
        fingerprint: record?.fingerprint ?? null,
        reason,
      });
    }

    if (isInfrastructure(outcome.category)) step.infrastructure_used += 1;
    else step.retries_used += 1;
    step.owed_wait_ms = decision.wait_ms;
    const { category, retry_after_ms } = outcome;
    const retry = isInfrastructure(category) ? step.infrastructure_used : step.retries_used;
    const backoff = retryBackoff({
      category,
      retry,
      policy: state.run.policy.retry,
      wait_ms: decision.wait_ms,
      retry_after_ms,
    });
    ports.log({ ...backoff, step_id: step.step_id, attempt: step.attempt });
  }
}

export function performTool(state: RunState, ports: RunPorts): Perform {
  return (step, guidance) => {
    // What a model writes is data and never a pointer: nobody reads another's results by naming them.
    const resolved = isLiteral(state, step)
      ? { ok: true as const, input: step.input }
      : resolvePointers(state, step.input);
    if (!resolved.ok) return Promise.resolve(unresolvable(resolved.pointer));
    const timeLeftMs = Math.max(1, millisecondsLeft(state, ports.now()));
    const agent = agentOfStep(state, step);
    if (agent !== null) {
      const timeoutMs = Math.min(timeLeftMs, state.run.manifest[step.tool]?.timeout_ms ?? timeLeftMs);
      return performSubRun(state, ports, step, { agent, input: resolved.input, guidance, timeoutMs });
    }
    return ports.call(callRequest(state, step, resolved.input, guidance, timeLeftMs));
  };
}

function callRequest(
  state: RunState,
  step: StepInFlight,
  input: Json,
  guidance: Guidance,
  timeLeftMs: number,
): ToolCallRequest {
  const { run } = state;
  const toolTimeoutMs = step.constraints.timeout_ms ?? run.manifest[step.tool]?.timeout_ms ?? timeLeftMs;
  const mending = step.attempt > 1 && isEnhanced(state) ? step.mending : null;
  return {
    run_id: run.run_id,
    agent: run.agent,
    loop_id: state.loop.loop_id,
    step_id: step.step_id,
    attempt: step.attempt,
    phase: step.phase,
    tool: step.tool,
    input,
    ...(step.output_schema === undefined ? {} : { output_schema: step.output_schema }),
    guidance,
    ...(isLiteral(state, step) && { literal: true as const }),
    constraints: step.constraints,
    ...(mending === null ? {} : { mending }),
    idempotency_key: idempotencyKey(run.run_id, step.step_id),
    timeout_ms: Math.min(toolTimeoutMs, timeLeftMs),
    time_left_ms: timeLeftMs,
    waited_ms: step.waited_ms,
  };
}

/** Chosen by a model. */
const isLiteral = ({ run }: RunState, step: StepInFlight): boolean => run.model !== null && step.plan_index === null;

/** Unless the policy or the automatic switch has turned it off. */
export const isEnhanced = ({ run }: RunState): boolean => run.policy.retry.enhance && run.memory.enhancement.on;

const isUnsure = (state: RunState, step: StepInFlight, outcome: CallOutcome): outcome is CallFailed =>
  outcome.class === 'failed' && outcome.certainty === 'unknown' && effectOf(state, step) === 'side_effect';

/** Started and no answer: the tool itself may know. What it finds out replaces the guess. */
async function settleUnknown(
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  guidance: Guidance,
  outcome: CallFailed,
): Promise<CallOutcome> {
  if (state.run.manifest[step.tool]?.reconcile !== true) return outcome;
  const resolved = isLiteral(state, step)
    ? { ok: true as const, input: step.input }
    : resolvePointers(state, step.input);
  if (!resolved.ok) return outcome;
  const timeLeftMs = Math.max(1_000, millisecondsLeft(state, ports.now()));
  const found = await ports.reconcile(callRequest(state, step, resolved.input, guidance, timeLeftMs));
  ports.log({ event: 'reconciled', step_id: step.step_id, attempt: step.attempt, verdict: found.verdict });
  switch (found.verdict) {
    case 'done': {
      const { verdict: _verdict, ...output } = found;
      return { class: 'ok', ...output, duration_ms: outcome.duration_ms };
    }
    case 'not_done':
      return { ...outcome, certainty: 'failed' };
    case 'unknown':
      return outcome;
  }
}

/** A lost worker is an event, not a failure of the tool: unless it may have left an effect behind. */
function noteFailure(
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  guidance: Guidance,
  failure: CallFailed,
  willRetry: boolean,
  now: number,
): FailureRecord | null {
  step.tried.push(`attempt ${step.attempt}: ${failure.error_code} ${failure.message_preview}`.slice(0, 200));
  const effectUnknown = effectOf(state, step) === 'side_effect' && failure.certainty === 'unknown';
  if (isInfrastructure(failure.category) && !effectUnknown) {
    ports.log({ event: 'worker_lost', step_id: step.step_id, attempt: step.attempt, code: failure.error_code });
    return null;
  }
  const record = recordFailure(state, step, guidance, failure, { effectUnknown, willRetry, now });
  step.failed = failedAction(step, failure, record);
  step.mending = {
    category: failure.category,
    retry: step.retries_used + 1,
    missed: failure.missed ?? [],
    ...(failure.detected === undefined ? {} : { feedback: failure.detected }),
  };
  noteAttempt(state, step, guidance, { ok: false, fingerprint: record.fingerprint }, now);
  ports.log({
    event: 'failure_recorded',
    failure_id: record.failure_id,
    fingerprint: record.fingerprint,
    step_id: step.step_id,
    attempt: step.attempt,
    category: failure.category,
    will_retry: willRetry,
  });
  return record;
}

async function backOff(state: RunState, ports: RunPorts, step: StepInFlight): Promise<void> {
  const waitMs = step.owed_wait_ms;
  step.waited_ms = waitMs;
  step.owed_wait_ms = 0;
  step.backing_off_until = ports.now() + waitMs;
  await ports.until(
    () => state.cancel !== null,
    waitMs,
    `back-off before attempt ${step.attempt + 1} of step ${step.step_id}`,
  );
  step.backing_off_until = null;
}

const unresolvable = (pointer: string): CallFailed => ({
  class: 'failed',
  certainty: 'not_started',
  origin: 'tool',
  category: 'pointer_unresolved',
  error_code: 'POINTER_UNRESOLVED',
  message_preview: `cannot resolve ${pointer}`,
  duration_ms: 0,
});

export const effectOf = (state: RunState, step: StepInFlight): ToolEffect =>
  step.kind === 'planner' ? 'read' : (state.run.manifest[step.tool]?.effect ?? 'side_effect');

const drawsOn = (step: StepInFlight): 'attempts' | 'model_calls' =>
  step.kind === 'planner' ? 'model_calls' : 'attempts';

/** Which budget leaves no room for another attempt of this step, or null. */
function spentBudget(state: RunState, ports: RunPorts, step: StepInFlight): keyof Amounts | null {
  if (step.attempt >= step.granted) return drawsOn(step);
  const limits = limitsOf(state.run);
  const { used } = state.ledger;
  // The net below all reservations: no attempt beyond the budget, whoever was promised it.
  if (step.kind === 'tool' && used.attempts >= (limits.attempts ?? Infinity)) return 'attempts';
  if (step.kind === 'planner') {
    if (used.tokens >= (limits.tokens ?? Infinity)) return 'tokens';
    if (used.cost_micro_usd >= (limits.cost_micro_usd ?? Infinity)) return 'cost_micro_usd';
  }
  return millisecondsLeft(state, ports.now()) <= 0 ? 'seconds' : null;
}

const outlasts = (state: RunState, ports: RunPorts, waitMs: number): 'seconds' | null =>
  waitMs > 0 && waitMs >= millisecondsLeft(state, ports.now()) ? 'seconds' : null;

function end(step: StepInFlight, how: NonNullable<StepInFlight['end']>): void {
  step.end = how;
}
