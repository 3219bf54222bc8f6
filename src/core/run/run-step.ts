import type { Amounts } from '../../protocol/run.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallFailed, CallOutcome, ToolEffect } from '../../protocol/tools.ts';
import { retryBackoff } from '../retry/log-events.ts';
import { decideRetry, type RetryDecision } from '../retry/retry-decision.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import {
  type Allowance,
  type Attempt,
  attemptCount,
  isSingleAttempt,
  lastFailure,
  retriesUsed,
  type Step,
} from './attempts.ts';
import { recordOfAttempt } from './failure-records.ts';
import { guidanceFor } from './guidance-for.ts';
import { askMemory } from './lessons.ts';
import { limitsOf, millisecondsLeft } from './ledger.ts';
import { isCancelled } from './life.ts';
import { queueRecord } from './outbox.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** Does one attempt and returns how it ended. Tools and planner turns differ only in this. */
export type Perform = (step: Step, attempt: Attempt) => Promise<CallOutcome>;

/**
 * Runs one guarded step: tries, records what failed, waits, tries again with guidance, and stops when its retries or the
 * run's budget end. It never asks a person: that is decided for the whole batch, in step order. `allowed` is a person's
 * answer that lets the step try once more.
 */
export async function runStep(story: Story, step: Step, perform: Perform, allowed?: Allowance): Promise<void> {
  const { state, ports, outbox } = story;
  let permit = allowed;
  let waitMs = permit === undefined ? owedWaitMs(state, step) : 0;
  // The memory is asked beside the backoff; its answer is there when the next attempt begins.
  let asking: Promise<void> | null = null;
  for (;;) {
    const spent = spentBudget(story, step, waitMs);
    if (spent !== null) {
      if (asking !== null) await asking;
      step.end = { kind: 'budget', budget: spent };
      return;
    }
    if (waitMs > 0) await backOff(story, step, waitMs);
    if (asking !== null) await asking;
    if (isCancelled(state)) {
      step.end = { kind: 'cancelled' };
      return;
    }

    const attempt = beginAttempt(story, step, waitMs, permit);
    permit = undefined;
    const told = await perform(step, attempt);
    attempt.outcome = told;
    attempt.at = state.updated_at = ports.now();
    if (told.class === 'cancelled') {
      step.end = { kind: 'cancelled' };
      return;
    }
    if (told.class === 'ok') {
      step.end = { kind: 'ok' };
      return;
    }

    const decision = decisionAfter(state, step, told);
    // A person allowed one more attempt and not a new round of retries; a lost worker does not use it up.
    const isLast = isSingleAttempt(step) && !isInfrastructure(told.category);
    const willRetry = decision.retry && !isLast;
    const record = recordFailure(story, step, attempt, willRetry);
    outbox.start();
    asking = record === null ? null : askMemory(story, attempt, record);
    if (!willRetry) {
      if (asking !== null) await asking;
      step.end = { kind: 'failed', reason: decision.retry ? 'limit_reached' : decision.reason };
      return;
    }
    waitMs = decision.wait_ms;
    logRetry(story, step, told, waitMs);
  }
}

/** The attempt that is now under way, with what it is shown and held to. */
function beginAttempt({ state, ports }: Story, step: Step, waitMs: number, allowed: Allowance | undefined): Attempt {
  state.ledger.used[budgetOf(step)] += 1;
  const attempt: Attempt = {
    n: attemptCount(step) + 1,
    at: ports.now(),
    waited_ms: waitMs,
    ...guidanceFor(state, step, allowed),
    outcome: null,
    ...(allowed !== undefined && { answer: allowed }),
    ...(state.failures.total > 0 && { may_prove: true as const }),
  };
  step.attempts.push(attempt);
  return attempt;
}

/** Whether the step may be tried again after this failure, and after which wait: a pure function of its attempts. */
function decisionAfter(state: RunState, step: Step, failure: CallFailed): RetryDecision {
  const used = retriesUsed(step);
  return decideRetry({
    category: failure.category,
    retries_used: used.retries,
    infrastructure_used: used.infrastructure,
    certainty: failure.certainty,
    effect: effectOf(state, step),
    retry_after_ms: failure.retry_after_ms,
    policy: state.run.policy.retry,
    seed: `${state.run.run_id}:${step.step_id}`,
  });
}

/** The backoff that is due before the next attempt: a step may have been stopped by its share of the budget before it. */
function owedWaitMs(state: RunState, step: Step): number {
  const failure = lastFailure(step);
  if (failure === null) return 0;
  const decision = decisionAfter(state, step, failure);
  return decision.retry ? decision.wait_ms : 0;
}

/** Makes the attempt's record. A lost worker is an event and no failure of the tool, unless it may have left an effect. */
function recordFailure(
  { state, ports }: Story,
  step: Step,
  attempt: Attempt,
  willRetry: boolean,
): FailureRecord | null {
  const failure = attempt.outcome;
  if (failure?.class !== 'failed') return null;
  const at = { step_id: step.step_id, attempt: attempt.n };
  const effectUnknown = isEffectUnknown(state, step, failure);
  if (isInfrastructure(failure.category) && !effectUnknown) {
    ports.log({ event: 'worker_lost', ...at, code: failure.error_code });
    return null;
  }
  const record = recordOfAttempt(state, step, { ...attempt, outcome: failure }, { effectUnknown, willRetry });
  attempt.record = record;
  queueRecord(state, record);
  ports.log({
    event: 'failure_recorded',
    failure_id: record.failure_id,
    fingerprint: record.fingerprint,
    ...at,
    category: failure.category,
    will_retry: willRetry,
  });
  return record;
}

function logRetry({ state, ports }: Story, step: Step, { category, retry_after_ms }: CallFailed, waitMs: number): void {
  const used = retriesUsed(step);
  const retry = 1 + (isInfrastructure(category) ? used.infrastructure : used.retries);
  const { retry: policy } = state.run.policy;
  const backoff = retryBackoff({ category, retry, policy, wait_ms: waitMs, retry_after_ms });
  ports.log({ ...backoff, step_id: step.step_id, attempt: attemptCount(step) });
}

async function backOff({ state, ports }: Story, step: Step, waitMs: number): Promise<void> {
  step.waiting_until = ports.now() + waitMs;
  const why = `back-off before attempt ${attemptCount(step) + 1} of step ${step.step_id}`;
  await ports.until(() => isCancelled(state), waitMs, why);
  step.waiting_until = null;
}

/** What the step may do to the world. An unknown tool is taken for one with a side effect. */
export const effectOf = ({ run }: RunState, { kind, call }: Step): ToolEffect =>
  kind === 'planner' ? 'read' : (run.manifest[call.tool]?.effect ?? 'side_effect');

/** A side effect was started and gave no answer, so nobody can tell whether it happened. */
export const isEffectUnknown = (state: RunState, step: Step, failure: CallFailed): boolean =>
  failure.certainty === 'unknown' && effectOf(state, step) === 'side_effect';

const budgetOf = (step: Step): 'attempts' | 'model_calls' => (step.kind === 'planner' ? 'model_calls' : 'attempts');

/** Which budget leaves no room for this wait and another attempt of the step, or null. */
function spentBudget({ state, ports }: Story, step: Step, waitMs: number): keyof Amounts | null {
  if (attemptCount(step) >= step.granted) return budgetOf(step);
  const limits = limitsOf(state.run);
  const { used } = state.ledger;
  // No attempt goes beyond the budget, whatever was reserved for the step.
  if (step.kind === 'tool' && used.attempts >= (limits.attempts ?? Infinity)) return 'attempts';
  if (step.kind === 'planner') {
    if (used.tokens >= (limits.tokens ?? Infinity)) return 'tokens';
    if (used.cost_micro_usd >= (limits.cost_micro_usd ?? Infinity)) return 'cost_micro_usd';
  }
  const leftMs = millisecondsLeft(state, ports.now());
  return leftMs <= 0 || (waitMs > 0 && waitMs >= leftMs) ? 'seconds' : null;
}
