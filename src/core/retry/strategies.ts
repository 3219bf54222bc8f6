import { FAILURE_CATEGORIES } from '../../protocol/failure-categories.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';

export type RetryPolicy = Policy['retry'];

/** The settings of the policy that are a number of retries. */
export type RetryLimitKey =
  | 'validation'
  | 'rate_limit'
  | 'network'
  | 'server_error'
  | 'timeout'
  | 'context_length'
  | 'worker_lost'
  | 'unknown_error';

/**
 * `validation`: doubles, without jitter. `exponential_jitter`: base × factor^(n−1), with jitter. `retry_after`: the
 * same, but never less than the server's Retry-After. `none`: no wait, because waiting does not help.
 */
export type Backoff = 'validation' | 'exponential_jitter' | 'retry_after' | 'none';

/** Names what can fix the failure. `nobody`: an invariant is broken, so the run reports it and does not retry. */
export type FixedBy = 'time' | 'prompt' | 'model' | 'human' | 'infrastructure' | 'nobody';

/** The kind of note that the prompt of a retry gets. */
export type Enhancement = 'grounding' | 'reasoning' | 'both' | 'generic' | 'none';

export interface RetryStrategy {
  /** The policy's setting for the number of retries; null when the category is never retried. */
  limit: RetryLimitKey | null;
  backoff: Backoff;
  fixed_by: FixedBy;
  enhancement: Enhancement;
}

const validation = (enhancement: Enhancement): RetryStrategy => ({
  limit: 'validation',
  backoff: 'validation',
  fixed_by: 'prompt',
  enhancement,
});
const retriedLater = (limit: RetryLimitKey, backoff: Backoff): RetryStrategy => ({
  limit,
  backoff,
  fixed_by: 'time',
  enhancement: 'none',
});
const notRetried = (fixed_by: FixedBy): RetryStrategy => ({
  limit: null,
  backoff: 'none',
  fixed_by,
  enhancement: 'none',
});
/** The call can go to another worker at once, so there is no wait. These retries have a limit of their own. */
const infrastructure: RetryStrategy = {
  limit: 'worker_lost',
  backoff: 'none',
  fixed_by: 'infrastructure',
  enhancement: 'none',
};

/** How each category of failure is retried. */
export const STRATEGIES: Readonly<Record<FailureCategory, Readonly<RetryStrategy>>> = {
  validation_grounding: validation('grounding'),
  validation_reasoning: validation('reasoning'),
  validation_both: validation('both'),
  validation_unknown: validation('both'),
  contract_violation: validation('generic'),
  rate_limit: retriedLater('rate_limit', 'retry_after'),
  network: retriedLater('network', 'exponential_jitter'),
  // A 503 may have a Retry-After too (RFC 9110). Without it this is the plain exponential wait.
  server_error: retriedLater('server_error', 'retry_after'),
  timeout: retriedLater('timeout', 'exponential_jitter'),
  unknown_error: retriedLater('unknown_error', 'exponential_jitter'),
  context_length: { limit: 'context_length', backoff: 'none', fixed_by: 'prompt', enhancement: 'generic' },
  worker_lost: infrastructure,
  // During a rolling deploy the old workers take calls fastest. Without a wait they would use up the retries at once.
  not_registered: { ...infrastructure, backoff: 'exponential_jitter' },
  auth: notRetried('human'),
  quota: notRetried('human'),
  content_filter: notRetried('model'),
  invalid_input: notRetried('model'),
  retrieval_failure: notRetried('model'),
  pointer_unresolved: notRetried('nobody'),
};

export const strategyOf = (category: FailureCategory): Readonly<RetryStrategy> => STRATEGIES[category];

/**
 * True for failures of the infrastructure. They make no failure record and have their own retry limit, so that a deploy
 * does not look like a failing tool.
 */
export const isInfrastructure = (category: FailureCategory): boolean =>
  STRATEGIES[category].fixed_by === 'infrastructure';

export const retryLimit = (category: FailureCategory, policy: RetryPolicy): number => {
  const key = STRATEGIES[category].limit;
  return key === null ? 0 : policy[key];
};

/** The categories that tools and models themselves can cause. */
export const TOOL_CATEGORIES: readonly FailureCategory[] = FAILURE_CATEGORIES.filter(
  (category) => !isInfrastructure(category),
);

/** The most retries that a step can have in these categories. Retries for lost workers are added in the run's limit. */
export function maxRetriesPerStep(
  policy: RetryPolicy,
  categories: readonly FailureCategory[] = TOOL_CATEGORIES,
): number {
  let most = 0;
  for (const category of categories) {
    if (!isInfrastructure(category)) most = Math.max(most, retryLimit(category, policy));
  }
  return most;
}

/** The most attempts that a step can have by itself, without those that people allow. */
export function maxAttemptsPerStep(policy: RetryPolicy): number {
  const known = attemptsPerStep.get(policy);
  if (known !== undefined) return known;
  const attempts = 1 + maxRetriesPerStep(policy) + policy.worker_lost;
  attemptsPerStep.set(policy, attempts);
  return attempts;
}

/** Every batch asks, and a policy never changes. */
const attemptsPerStep = new WeakMap<RetryPolicy, number>();
