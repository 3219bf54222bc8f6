import { sha256Hex } from '../../protocol/ids.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { largestLimit, retryLimit, strategyOf, TOOL_CATEGORIES } from './strategies.ts';
import type { RetryPolicy } from './strategies.ts';

export interface WaitQuestion {
  category: FailureCategory;
  /** Which retry of the step this is, from 1. */
  retry: number;
  policy: RetryPolicy;
  /** What makes the jitter of two steps differ and of one step repeat: run and step. The retry is mixed in here. */
  seed: string;
  retry_after_ms?: number | undefined;
}
export type WaitAnswer = { wait_ms: number } | { give_up: 'retry_after_beyond_max_wait' };

const VALIDATION_FACTOR = 2;

/**
 * base × factor^(n−1), capped. Multiplied out, not Math.pow: engines may differ in its last bit, and a replay on
 * another Node version must find the same timer.
 */
const growing = (policy: RetryPolicy, factor: number, retry: number): number => {
  let wait = policy.base_ms;
  for (let n = 1; n < retry && wait < policy.max_wait_ms; n += 1) {
    const next = wait * factor;
    if (next === wait) break;
    wait = next;
  }
  return Math.min(Math.round(wait), policy.max_wait_ms);
};

/** A number in [0, 1) that anyone can compute again: the first 48 bits of a hash. */
const shareOf = (seed: string): number => Number.parseInt(sha256Hex(seed).slice(0, 12), 16) / 2 ** 48;

/** Between one half and the whole. Rounded up, so that it never falls below the half. */
const withJitter = (wait: number, seed: string): number => Math.ceil(wait * (0.5 + shareOf(seed) / 2));

const usable = (retryAfterMs: number | undefined): number | null =>
  typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.ceil(retryAfterMs) : null;

/** The wait of a category without jitter and without anything that a server asked for. */
const plainWait = (category: FailureCategory, retry: number, policy: RetryPolicy): number => {
  const { backoff } = strategyOf(category);
  if (backoff === 'none') return 0;
  return growing(policy, backoff === 'validation' ? VALIDATION_FACTOR : policy.factor, retry);
};

export const waitBeforeRetry = (question: WaitQuestion): WaitAnswer => {
  const { category, retry, policy, seed } = question;
  const { backoff } = strategyOf(category);
  const plain = plainWait(category, retry, policy);
  if (backoff === 'none' || backoff === 'validation') return { wait_ms: plain };

  const spread = withJitter(plain, `${seed}:${retry}`);
  const asked = backoff === 'retry_after' ? usable(question.retry_after_ms) : null;
  if (asked === null) return { wait_ms: spread };
  return asked > policy.max_wait_ms ? { give_up: 'retry_after_beyond_max_wait' } : { wait_ms: Math.max(asked, spread) };
};

/** The longest that `waitBeforeRetry` can answer, whatever the seed and whatever a server asks for. */
export const largestWait = (category: FailureCategory, retry: number, policy: RetryPolicy): number =>
  strategyOf(category).backoff === 'retry_after' ? policy.max_wait_ms : plainWait(category, retry, policy);

/** The longest waits before each retry that a lost worker, or one that does not know the tool, can cause. */
const infrastructureWaits = (policy: RetryPolicy): number[] =>
  Array.from({ length: policy.worker_lost }, (_, index) => largestWait('not_registered', index + 1, policy));

/** The longest waits before each retry that the tool itself can cause: of the slowest category that still allows it. */
const toolWaits = (policy: RetryPolicy, categories: readonly FailureCategory[]): number[] =>
  Array.from({ length: largestLimit(policy, categories) }, (_, index) => {
    const allowing = categories.filter((category) => retryLimit(category, policy) > index);
    return Math.max(0, ...allowing.map((category) => largestWait(category, index + 1, policy)));
  });

const sum = (waits: readonly number[]): number => waits.reduce((total, wait) => total + wait, 0);

/** The most that a step can wait because of workers that are lost or do not know its tool; comes on top of the rest. */
export const largestInfrastructureWait = (policy: RetryPolicy): number => sum(infrastructureWaits(policy));

/** The most back-off that one step can take. */
export const largestWaitOfStep = (
  policy: RetryPolicy,
  categories: readonly FailureCategory[] = TOOL_CATEGORIES,
): number => sum(toolWaits(policy, categories));

/**
 * The most back-off that a call can bring on average, however a budget of calls is spread over steps: the best that a step of
 * any length can do, divided by its calls. Its first call waits for nothing.
 */
export const largestWaitPerCall = (policy: RetryPolicy): number => {
  const byTool = toolWaits(policy, TOOL_CATEGORIES);
  const byInfrastructure = infrastructureWaits(policy);
  let best = 0;
  for (let tool = 0; tool <= byTool.length; tool += 1) {
    for (let lost = 0; lost <= byInfrastructure.length; lost += 1) {
      const waited = sum(byTool.slice(0, tool)) + sum(byInfrastructure.slice(0, lost));
      best = Math.max(best, waited / (1 + tool + lost));
    }
  }
  return best;
};
