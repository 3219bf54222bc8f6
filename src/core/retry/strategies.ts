import { FAILURE_CATEGORIES } from '../../protocol/failure-categories.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';

export type RetryPolicy = Policy['retry'];

/** The keys of the policy that hold a number of retries. */
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
 * `validation`: doubles, without jitter. `exponential_jitter`: base × factor^(n−1), spread. `retry_after`: the same, but
 * never less than what the server asked for. `none`: at once, because time mends nothing here.
 */
export type Backoff = 'validation' | 'exponential_jitter' | 'retry_after' | 'none';

/** Whose hand it takes. `nobody`: an invariant broke, and the run says so instead of trying. */
export type MendedBy = 'time' | 'prompt' | 'model' | 'human' | 'infrastructure' | 'nobody';

/** What the prompt of a retry gets to hear. */
export type Enhancement = 'grounding' | 'reasoning' | 'both' | 'generic' | 'none';

export interface RetryStrategy {
  /** Where the policy keeps the number of retries; null: never retried, whatever the policy. */
  limit: RetryLimitKey | null;
  backoff: Backoff;
  mended_by: MendedBy;
  enhancement: Enhancement;
}

const validation = (enhancement: Enhancement): RetryStrategy => ({
  limit: 'validation',
  backoff: 'validation',
  mended_by: 'prompt',
  enhancement,
});
const passing = (limit: RetryLimitKey, backoff: Backoff): RetryStrategy => ({
  limit,
  backoff,
  mended_by: 'time',
  enhancement: 'none',
});
const never = (mended_by: MendedBy): RetryStrategy => ({
  limit: null,
  backoff: 'none',
  mended_by,
  enhancement: 'none',
});
/** Another worker may have what this one lost, so there is nothing to wait for; it draws on an allowance of its own. */
const infrastructure: RetryStrategy = {
  limit: 'worker_lost',
  backoff: 'none',
  mended_by: 'infrastructure',
  enhancement: 'none',
};

/** The one table of S5. */
export const STRATEGIES: Readonly<Record<FailureCategory, Readonly<RetryStrategy>>> = {
  validation_grounding: validation('grounding'),
  validation_reasoning: validation('reasoning'),
  validation_both: validation('both'),
  validation_unknown: validation('both'),
  contract_violation: validation('generic'),
  rate_limit: passing('rate_limit', 'retry_after'),
  network: passing('network', 'exponential_jitter'),
  // A 503 may carry Retry-After as well (RFC 9110); without one this is the plain exponential wait.
  server_error: passing('server_error', 'retry_after'),
  timeout: passing('timeout', 'exponential_jitter'),
  unknown_error: passing('unknown_error', 'exponential_jitter'),
  context_length: { limit: 'context_length', backoff: 'none', mended_by: 'prompt', enhancement: 'generic' },
  worker_lost: infrastructure,
  // In a rolling deploy the old workers are the quick ones: without a wait they would use the allowance up at once.
  not_registered: { ...infrastructure, backoff: 'exponential_jitter' },
  auth: never('human'),
  quota: never('human'),
  content_filter: never('model'),
  invalid_input: never('model'),
  retrieval_failure: never('model'),
  pointer_unresolved: never('nobody'),
};

export const strategyOf = (category: FailureCategory): Readonly<RetryStrategy> => STRATEGIES[category];

/** Infrastructure makes no failure record and has its own allowance: a deploy must not look like a tool that fails. */
export const isInfrastructure = (category: FailureCategory): boolean =>
  STRATEGIES[category].mended_by === 'infrastructure';

export const retryLimit = (category: FailureCategory, policy: RetryPolicy): number => {
  const key = STRATEGIES[category].limit;
  return key === null ? 0 : policy[key];
};

/** What tools and models themselves can cause. */
export const TOOL_CATEGORIES: readonly FailureCategory[] = FAILURE_CATEGORIES.filter(
  (category) => !isInfrastructure(category),
);

/** The most retries that a step can take over these categories; `worker_lost` comes on top of it in the bound. */
export function largestLimit(policy: RetryPolicy, categories: readonly FailureCategory[] = TOOL_CATEGORIES): number {
  let most = 0;
  for (const category of categories) {
    if (!isInfrastructure(category)) most = Math.max(most, retryLimit(category, policy));
  }
  return most;
}

/** The most attempts that a step can take by itself, without what people allow. */
export const mostAttemptsOfStep = (policy: RetryPolicy): number => 1 + largestLimit(policy) + policy.worker_lost;
