import { sha256Hex } from '../../protocol/ids.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { maxRetriesPerStep, retryLimit, strategyOf, TOOL_CATEGORIES } from './strategies.ts';
import type { RetryPolicy } from './strategies.ts';

export interface WaitQuestion {
  category: FailureCategory;
  /** The number of this retry, from 1. */
  retry: number;
  policy: RetryPolicy;
  /**
   * Identifies run and step, so that the jitter differs between steps and is repeatable for one step. The number of the
   * retry is added here.
   */
  seed: string;
  retry_after_ms?: number | undefined;
}
export type WaitAnswer = { wait_ms: number } | { give_up: 'retry_after_beyond_max_wait' };

const VALIDATION_FACTOR = 2;

/**
 * Computes base × factor^(n−1), capped. It multiplies instead of using Math.pow, because engines may differ in the last
 * bit of Math.pow and a replay on another Node version must find the same timer.
 */
const exponentialWait = (policy: RetryPolicy, factor: number, retry: number): number => {
  let wait = policy.base_ms;
  for (let n = 1; n < retry && wait < policy.max_wait_ms; n += 1) {
    const next = wait * factor;
    if (next === wait) break;
    wait = next;
  }
  return Math.min(Math.round(wait), policy.max_wait_ms);
};

/** A repeatable number in [0, 1): the first 48 bits of a hash of the seed. */
const seededFraction = (seed: string): number => Number.parseInt(sha256Hex(seed).slice(0, 12), 16) / 2 ** 48;

/**
 * Adds jitter: the result is between one half and the whole of the wait. It is rounded up, so that it never falls below
 * the half.
 */
const withJitter = (wait: number, seed: string): number => Math.ceil(wait * (0.5 + seededFraction(seed) / 2));

const validRetryAfter = (retryAfterMs: number | undefined): number | null =>
  typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.ceil(retryAfterMs) : null;

/** The wait of a category without jitter and without Retry-After. */
const plainWait = (category: FailureCategory, retry: number, policy: RetryPolicy): number => {
  const { backoff } = strategyOf(category);
  if (backoff === 'none') return 0;
  return exponentialWait(policy, backoff === 'validation' ? VALIDATION_FACTOR : policy.factor, retry);
};

export const waitBeforeRetry = (question: WaitQuestion): WaitAnswer => {
  const { category, retry, policy, seed } = question;
  const { backoff } = strategyOf(category);
  const plain = plainWait(category, retry, policy);
  if (backoff === 'none' || backoff === 'validation') return { wait_ms: plain };

  const spread = withJitter(plain, `${seed}:${retry}`);
  const asked = backoff === 'retry_after' ? validRetryAfter(question.retry_after_ms) : null;
  if (asked === null) return { wait_ms: spread };
  return asked > policy.max_wait_ms ? { give_up: 'retry_after_beyond_max_wait' } : { wait_ms: Math.max(asked, spread) };
};

/** The longest wait that `waitBeforeRetry` can return, for any seed and any Retry-After. */
export const maxWait = (category: FailureCategory, retry: number, policy: RetryPolicy): number =>
  strategyOf(category).backoff === 'retry_after' ? policy.max_wait_ms : plainWait(category, retry, policy);

/** The longest wait before each retry that a lost worker, or a worker that does not know the tool, can cause. */
const infrastructureWaits = (policy: RetryPolicy): number[] =>
  Array.from({ length: policy.worker_lost }, (_, index) => maxWait('not_registered', index + 1, policy));

/**
 * The longest wait before each retry that the tool itself can cause: that of the slowest category that still allows the
 * retry.
 */
const toolWaits = (policy: RetryPolicy, categories: readonly FailureCategory[]): number[] => {
  const waits = Array.from({ length: maxRetriesPerStep(policy, categories) }, () => 0);
  for (const category of categories) {
    const limit = retryLimit(category, policy);
    for (let index = 0; index < limit && index < waits.length; index += 1) {
      waits[index] = Math.max(waits[index] ?? 0, maxWait(category, index + 1, policy));
    }
  }
  return waits;
};

const sum = (waits: readonly number[]): number => waits.reduce((total, wait) => total + wait, 0);

/**
 * The longest time that a step can wait because of workers that are lost or do not know its tool. It is added to the
 * other waits.
 */
export const maxInfrastructureWait = (policy: RetryPolicy): number => sum(infrastructureWaits(policy));

/** The longest total backoff of one step. */
export const maxWaitPerStep = (policy: RetryPolicy, categories: readonly FailureCategory[] = TOOL_CATEGORIES): number =>
  sum(toolWaits(policy, categories));

/**
 * The longest average backoff per call, however a budget of calls is distributed over steps: the highest total wait of
 * a step of any length, divided by its calls. The first call of a step has no wait.
 */
export const maxWaitPerCall = (policy: RetryPolicy): number => {
  const byTool = toolWaits(policy, TOOL_CATEGORIES);
  const byInfrastructure = infrastructureWaits(policy);
  let best = 0;
  let toolWaited = 0;
  for (let tool = 0; tool <= byTool.length; tool += 1) {
    if (tool > 0) toolWaited += byTool[tool - 1] ?? 0;
    let waited = toolWaited;
    for (let lost = 0; lost <= byInfrastructure.length; lost += 1) {
      if (lost > 0) waited += byInfrastructure[lost - 1] ?? 0;
      best = Math.max(best, waited / (1 + tool + lost));
    }
  }
  return best;
};
