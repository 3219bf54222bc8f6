import { defined } from '../../protocol/json.ts';
import { maxAttemptsPerStep } from '../retry/strategies.ts';
import { attemptCount, type Call, openStep, type Step } from './attempts.ts';
import { attemptsLeft, limitsOf } from './ledger.ts';
import type { RunState } from './state.ts';

/**
 * Opens the steps of a batch. Step ids and attempts are reserved before the first call, in step order and for the worst
 * case, so which of two parallel steps gets the last attempts does not depend on which fails first. Calls that the
 * budget does not cover are left out; `short` then names the budget.
 */
export function openBatch(state: RunState, calls: Call[]): { steps: Step[]; short: 'steps' | 'attempts' | null } {
  const { ledger, run } = state;
  const most = maxAttemptsPerStep(run.policy.retry);
  let stepsLeft = Math.max(0, (limitsOf(run).steps ?? Infinity) - ledger.used.steps);
  let unreserved = unreservedAttempts(state, null);
  const steps: Step[] = [];
  let short: 'steps' | 'attempts' | null = null;
  for (const [position, call] of calls.entries()) {
    if (stepsLeft === 0) short ??= 'steps';
    else if (unreserved === 0) short ??= 'attempts';
    if (short !== null) break;
    const stillToCome = calls.length - position - 1;
    // A sub-run has retries of its own, so its step gets one attempt.
    const wanted = run.manifest[call.tool]?.agent === undefined ? most : 1;
    // Every step of the batch gets its first attempt before any gets a retry.
    const granted = Math.min(wanted, Math.max(1, unreserved - stillToCome));
    steps.push(openStep('tool', ledger.next_step_id + position, call, granted));
    stepsLeft -= 1;
    unreserved -= granted;
  }
  ledger.next_step_id += steps.length;
  ledger.used.steps += steps.length;
  return { steps, short };
}

/** Attempts that are left after every other step under way has used all that it was granted. */
export function unreservedAttempts(state: RunState, except: Step | null): number {
  let left = attemptsLeft(state);
  for (const other of state.loop.batch) {
    if (other === except || other.kind !== 'tool' || !(other.end === null || other.end.kind === 'stuck')) continue;
    left -= Math.max(0, other.granted - attemptCount(other));
  }
  return Math.max(0, left);
}

/** Makes a call and leaves out the members that are undefined. */
export const makeCall = (
  call: { [K in keyof Call]: Call[K] | undefined } & Pick<Call, 'plan_index' | 'phase' | 'tool' | 'input'>,
): Call => defined(call);
