import * as fc from 'fast-check';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import type { RetryPolicy } from '../../../../src/core/retry/strategies.ts';

export const defaultRetry: RetryPolicy = DEFAULT_POLICY.retry;

const limit = fc.integer({ min: 0, max: 20 });
/** Any retry policy that the policy schema accepts. */
export const anyRetryPolicy: fc.Arbitrary<RetryPolicy> = fc.record({
  validation: limit,
  rate_limit: limit,
  network: limit,
  server_error: limit,
  timeout: limit,
  context_length: limit,
  worker_lost: limit,
  unknown_error: limit,
  base_ms: fc.integer({ min: 1, max: 3_600_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  max_wait_ms: fc.integer({ min: 1, max: 86_400_000 }),
  enhance: fc.boolean(),
  enhance_holdout: fc.double({ min: 0, max: 0.5, noNaN: true }),
});
export const anyCategory = fc.constantFrom(...FAILURE_CATEGORIES);
