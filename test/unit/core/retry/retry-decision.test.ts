import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import type { FailureCategory } from '../../../../src/protocol/failure-categories.ts';
import type { Certainty, ToolEffect } from '../../../../src/protocol/tools.ts';
import { decideRetry } from '../../../../src/core/retry/retry-decision.ts';
import { isInfrastructure, maxRetriesPerStep, retryLimit } from '../../../../src/core/retry/strategies.ts';
import { maxInfrastructureWait, maxWaitPerStep } from '../../../../src/core/retry/backoff.ts';
import type { RetryQuestion } from '../../../../src/core/retry/retry-decision.ts';
import { anyCategory, anyRetryPolicy, defaultRetry } from './policies.ts';

const ask = (question: Partial<RetryQuestion> & { category: FailureCategory }) =>
  decideRetry({
    retries_used: 0,
    infrastructure_used: 0,
    certainty: 'failed',
    effect: 'read',
    policy: defaultRetry,
    seed: 'run:1',
    ...question,
  });

const EFFECTS: ToolEffect[] = ['read', 'idempotent', 'side_effect'];
const CERTAINTIES: Certainty[] = ['not_started', 'failed', 'unknown'];
const NEVER: FailureCategory[] = [
  'auth',
  'quota',
  'content_filter',
  'invalid_input',
  'pointer_unresolved',
  'retrieval_failure',
];

const expected = (category: FailureCategory, effect: ToolEffect, certainty: Certainty) => {
  if (effect === 'side_effect' && certainty === 'unknown') return { retry: false, reason: 'unknown_side_effect' };
  return NEVER.includes(category) ? { retry: false, reason: 'never_retried' } : { retry: true };
};

describe('a command that failed in the same way before', () => {
  test('is not retried, whatever its category allows', () => {
    expect(ask({ category: 'unknown_error' })).toMatchObject({ retry: true });
    expect(ask({ category: 'unknown_error', same_failure: true })).toEqual({ retry: false, reason: 'same_failure' });
  });

  test('is still asked about first if its side effect may have happened', () => {
    const unknown = { category: 'unknown_error', effect: 'side_effect', certainty: 'unknown' } as const;
    expect(ask({ ...unknown, same_failure: true })).toEqual({ retry: false, reason: 'unknown_side_effect' });
  });
});

describe('every category, effect and certainty', () => {
  const table = FAILURE_CATEGORIES.flatMap((category) =>
    EFFECTS.flatMap((effect) => CERTAINTIES.map((certainty) => ({ category, effect, certainty }))),
  );
  test.each(table)(
    'the decision about $category of a $effect tool with certainty $certainty is as documented',
    ({ category, effect, certainty }) => {
      expect(ask({ category, effect, certainty })).toMatchObject(expected(category, effect, certainty));
    },
  );
});

test.each(FAILURE_CATEGORIES)(
  'a failure of the category %s that says a retry is useless is never retried',
  (category) => {
    expect(ask({ category, no_retry: true })).toEqual({ retry: false, reason: 'never_retried' });
  },
);

describe('limits', () => {
  test.each(FAILURE_CATEGORIES.filter((category) => !NEVER.includes(category)))(
    '%s is retried up to its limit and not once more',
    (category) => {
      const limit = retryLimit(category, defaultRetry);
      const used = (n: number) => ({ retries_used: n, infrastructure_used: n });
      expect(ask({ category, ...used(limit - 1) })).toMatchObject({ retry: true });
      expect(ask({ category, ...used(limit) })).toEqual({ retry: false, reason: 'limit_reached' });
    },
  );

  test('retries are counted over all categories, and the limit is that of the latest failure', () => {
    expect(ask({ category: 'network', retries_used: 3 })).toMatchObject({ retry: true });
    expect(ask({ category: 'timeout', retries_used: 3 })).toEqual({ retry: false, reason: 'limit_reached' });
  });

  test('a lost worker uses only its own retry limit', () => {
    expect(ask({ category: 'worker_lost', retries_used: 99 })).toMatchObject({ retry: true, wait_ms: 0 });
    expect(ask({ category: 'worker_lost', infrastructure_used: 2 })).toEqual({ retry: false, reason: 'limit_reached' });
    expect(ask({ category: 'network', infrastructure_used: 99 })).toMatchObject({ retry: true });
  });

  test('a limit of 0 in the policy allows no retry', () => {
    const policy = { ...defaultRetry, network: 0 };
    expect(ask({ category: 'network', policy })).toEqual({ retry: false, reason: 'limit_reached' });
  });
});

describe('what the decision carries', () => {
  test('the decision contains the wait of the n-th retry', () => {
    expect([0, 1].map((retries_used) => ask({ category: 'validation_grounding', retries_used }))).toEqual([
      { retry: true, wait_ms: 1_000, enhancement: 'grounding' },
      { retry: true, wait_ms: 2_000, enhancement: 'grounding' },
    ]);
  });
  test('the decision contains no enhancement when the policy switches it off', () => {
    const policy = { ...defaultRetry, enhance: false };
    expect(ask({ category: 'validation_both', policy })).toMatchObject({ enhancement: 'none' });
  });
  test("there is no retry when Retry-After is longer than the policy's longest wait", () => {
    expect(ask({ category: 'rate_limit', retry_after_ms: 300_001 })).toEqual({
      retry: false,
      reason: 'retry_after_beyond_max_wait',
    });
  });
});

/** Simulates one step that fails with these categories in order. Returns how often it ran and how long it waited. */
const exhaust = (failures: readonly FailureCategory[], policy: typeof defaultRetry) => {
  let attempts = 1;
  let waited = 0;
  const used = { retries_used: 0, infrastructure_used: 0 };
  for (const category of failures) {
    const decision = ask({ category, policy, ...used });
    if (!decision.retry) break;
    attempts += 1;
    waited += decision.wait_ms;
    if (isInfrastructure(category)) used.infrastructure_used += 1;
    else used.retries_used += 1;
  }
  return { attempts, waited };
};

describe('a step that never succeeds', () => {
  test('a step runs 5 times against a server that always answers 503', () => {
    const forever: FailureCategory[] = Array.from({ length: 100 }, () => 'server_error');
    expect(exhaust(forever, defaultRetry).attempts).toBe(5);
  });

  test('a step reaches its limit when the category with most retries comes last and both workers are lost', () => {
    const unlucky: FailureCategory[] = ['worker_lost', 'timeout', 'validation_both', 'network', 'not_registered'];
    const rateLimited: FailureCategory[] = ['server_error', 'rate_limit', 'rate_limit', 'worker_lost'];
    expect(exhaust([...unlucky, ...rateLimited], defaultRetry).attempts).toBe(1 + 5 + 2);
  });

  test('a step never exceeds its limit for any sequence of failures and any policy', () => {
    const retryable = anyCategory.filter((category) => !NEVER.includes(category));
    const failures = fc.oneof(fc.array(anyCategory), fc.array(retryable, { minLength: 30, maxLength: 100 }));
    fc.assert(
      fc.property(failures, anyRetryPolicy, (sequence, policy) => {
        const { attempts, waited } = exhaust(sequence, policy);
        expect(attempts).toBeLessThanOrEqual(1 + maxRetriesPerStep(policy) + policy.worker_lost);
        expect(waited).toBeLessThanOrEqual(maxWaitPerStep(policy) + maxInfrastructureWait(policy));
      }),
      { numRuns: 1_000 },
    );
  });
});
