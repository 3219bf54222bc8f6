import type { Amounts } from '../../protocol/run.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallFailed, CallOutcome } from '../../protocol/tools.ts';
import { retryBackoff } from '../retry/log-events.ts';
import { decideRetry, type RetryDecision } from '../retry/retry-decision.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import {
  type Allowance,
  type Attempt,
  attemptCount,
  dropOutputText,
  type FailedAttempt,
  isOneMoreAttempt,
  lastFailure,
  retriesUsed,
  type Step,
} from './attempts.ts';
import { holdIfUnknown } from './effects.ts';
import { makeFailureRecord } from './failure-records.ts';
import { guidanceFor } from './guidance-for.ts';
import { effectOf, isEffectUnknown } from './known-effects.ts';
import { recallLessons } from './lessons.ts';
import { limitsOf, millisecondsLeft } from './ledger.ts';
import { isCancelled } from './life.ts';
import { queueRecord } from './outbox.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** Performs one attempt and returns its outcome. Tool steps and planner turns differ only in this function. */
export type Perform = (step: Step, attempt: Attempt) => Promise<CallOutcome>;

/**
 * Runs one guarded step: tries, records failures, waits, and tries again with guidance, until it succeeds or its
 * retries or the run's budget end. It never asks a person, because questions are asked for the whole batch in step
 * order. `allowed` is a person's answer that permits one more attempt.
 */
export async function runStep(story: Story, step: Step, perform: Perform, allowed?: Allowance): Promise<void> {
  const { state, ports, outbox } = story;
  let permit = allowed;
  let waitMs = permit === undefined ? pendingBackoffMs(state, step) : 0;
  // The memory is queried during the backoff, and its answer is awaited before the next attempt begins.
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
    // A sub-run that works beside this step may have reported an identical effect of unknown outcome meanwhile.
    if (holdIfUnknown(story, step)) return;

    const attempt = beginAttempt(story, step, waitMs, permit);
    permit = undefined;
    const outcome = await perform(step, attempt);
    attempt.outcome = outcome;
    attempt.at = state.updated_at = ports.now();
    if (outcome.class === 'cancelled') {
      step.end = { kind: 'cancelled' };
      return;
    }
    if (outcome.class === 'ok') {
      step.end = { kind: 'ok' };
      return;
    }

    const decision = decisionAfter(state, step, outcome);
    // A person allowed one more attempt, not a new series of retries. A lost worker does not use up this attempt.
    const isLast = isOneMoreAttempt(step) && !isInfrastructure(outcome.category);
    const willRetry = decision.retry && !isLast;
    const record = recordFailure(story, step, attempt, willRetry);
    outbox.start();
    asking = record === null ? null : recallLessons(story, attempt, record);
    if (!willRetry) {
      if (asking !== null) await asking;
      step.end = { kind: 'failed', reason: decision.retry ? 'limit_reached' : decision.reason };
      return;
    }
    waitMs = decision.wait_ms;
    logRetry(story, step, outcome, waitMs);
  }
}

/** Starts an attempt with its guidance and constraints, and charges it to the budget. */
function beginAttempt({ state, ports }: Story, step: Step, waitMs: number, allowed: Allowance | undefined): Attempt {
  state.ledger.used[budgetOf(step)] += 1;
  // Only the output of the last attempt is shown to whoever chose the call.
  dropOutputText(step);
  const { guidance, constraints } = guidanceFor(state, step);
  const attempt: Attempt = { n: attemptCount(step) + 1, at: ports.now(), waited_ms: waitMs, outcome: null };
  if (guidance !== undefined) attempt.guidance = guidance;
  if (constraints !== undefined) attempt.constraints = constraints;
  if (allowed !== undefined) attempt.answer = allowed;
  if (state.failures.total > 0) attempt.may_prove = true;
  step.attempts.push(attempt);
  return attempt;
}

/**
 * Decides whether the step may be tried again after this failure, and after which wait. Depends only on its attempts
 * and the policy.
 */
function decisionAfter(state: RunState, step: Step, failure: CallFailed): RetryDecision {
  const used = retriesUsed(step);
  return decideRetry({
    category: failure.category,
    retries_used: used.retries,
    infrastructure_used: used.infrastructure,
    certainty: failure.certainty,
    effect: effectOf(state, step),
    retry_after_ms: failure.retry_after_ms,
    no_retry: failure.no_retry,
    same_failure: failedAlike(state, step, failure) || saidTheSame(state, step, failure),
    policy: state.run.policy.retry,
    seed: `${state.run.run_id}:${step.step_id}`,
  });
}

/**
 * True when the same command failed in the same way before: in an earlier attempt of this step, or in an earlier step of
 * this pass. Its failure is then deterministic, and only another call can help.
 */
function failedAlike({ loop }: RunState, step: Step, { result_hash }: CallFailed): boolean {
  if (result_hash === undefined) return false;
  const others = loop.steps.filter(({ call }) => call.tool === step.call.tool);
  const earlier = [...others, step].flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome));
  const alike = earlier.filter((outcome) => outcome?.class === 'failed' && outcome.result_hash === result_hash);
  return alike.length > 1;
}

/**
 * True when a call that a planner or model chose failed with the very same words before, and nothing says that time helps. Whoever
 * chose the call can choose another one, so it goes back there instead of being repeated until a person is asked.
 */
function saidTheSame({ run }: RunState, step: Step, failure: CallFailed): boolean {
  if (run.planner !== 'chooses' || step.kind !== 'tool' || failure.category !== 'unknown_error') return false;
  const alike = step.attempts.filter(
    ({ outcome }) =>
      outcome?.class === 'failed' &&
      outcome.error_code === failure.error_code &&
      outcome.message_preview === failure.message_preview,
  );
  return alike.length > 1;
}

/** The backoff that is still due before the next attempt, for a step that its share of the budget had stopped. */
function pendingBackoffMs(state: RunState, step: Step): number {
  const failure = lastFailure(step);
  if (failure === null) return 0;
  const decision = decisionAfter(state, step, failure);
  return decision.retry ? decision.wait_ms : 0;
}

/**
 * Makes the record of a failed attempt. A lost worker is only logged, because the tool did not fail, unless a side
 * effect may have happened.
 */
function recordFailure(
  { state, ports }: Story,
  step: Step,
  attempt: Attempt,
  willRetry: boolean,
): FailureRecord | null {
  if (!hasFailed(attempt)) return null;
  const { category, error_code } = attempt.outcome;
  const effectUnknown = isEffectUnknown(state, step, attempt.outcome);
  if (isInfrastructure(category) && !effectUnknown) {
    ports.log({ event: 'worker_lost', step_id: step.step_id, attempt: attempt.n, code: error_code });
    return null;
  }
  const record = makeFailureRecord(state, step, attempt, { effectUnknown, willRetry });
  attempt.record = record;
  queueRecord(state, record);
  ports.log({
    event: 'failure_recorded',
    failure_id: record.failure_id,
    fingerprint: record.fingerprint,
    step_id: step.step_id,
    attempt: attempt.n,
    category,
    will_retry: willRetry,
  });
  return record;
}

const hasFailed = (attempt: Attempt): attempt is FailedAttempt => attempt.outcome?.class === 'failed';

function logRetry({ state, ports }: Story, step: Step, { category, retry_after_ms }: CallFailed, waitMs: number): void {
  const used = retriesUsed(step);
  const retry = 1 + (isInfrastructure(category) ? used.infrastructure : used.retries);
  const { retry: policy } = state.run.policy;
  const backoff = retryBackoff({ category, retry, policy, wait_ms: waitMs, retry_after_ms });
  ports.log(Object.assign(backoff, { step_id: step.step_id, attempt: attemptCount(step) }));
}

async function backOff({ state, ports }: Story, step: Step, waitMs: number): Promise<void> {
  step.waiting_until = ports.now() + waitMs;
  const why = `back-off before attempt ${attemptCount(step) + 1} of step ${step.step_id}`;
  await ports.until(() => isCancelled(state), waitMs, why);
  step.waiting_until = null;
}

const budgetOf = (step: Step): 'attempts' | 'model_calls' => (step.kind === 'planner' ? 'model_calls' : 'attempts');

/** Returns the budget that leaves no room for this wait and another attempt, or null. */
function spentBudget({ state, ports }: Story, step: Step, waitMs: number): keyof Amounts | null {
  if (attemptCount(step) >= step.granted) return budgetOf(step);
  const limits = limitsOf(state.run);
  const { used } = state.ledger;
  // The budget also holds for attempts that were reserved for the step.
  if (step.kind === 'tool' && used.attempts >= (limits.attempts ?? Infinity)) return 'attempts';
  if (step.kind === 'planner') {
    if (used.tokens >= (limits.tokens ?? Infinity)) return 'tokens';
    if (used.cost_micro_usd >= (limits.cost_micro_usd ?? Infinity)) return 'cost_micro_usd';
  }
  const leftMs = millisecondsLeft(state, ports.now());
  return leftMs <= 0 || (waitMs > 0 && waitMs >= leftMs) ? 'seconds' : null;
}
