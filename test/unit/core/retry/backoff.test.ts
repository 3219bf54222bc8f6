import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxWait, maxWaitPerStep, waitBeforeRetry } from '../../../../src/core/retry/backoff.ts';
import type { RetryPolicy } from '../../../../src/core/retry/strategies.ts';
import type { FailureCategory } from '../../../../src/protocol/failure-categories.ts';
import { anyCategory, anyRetryPolicy, defaultRetry } from './policies.ts';

const waitOf = (
  category: FailureCategory,
  retry: number,
  more: { policy?: RetryPolicy; retry_after_ms?: number } = {},
) => waitBeforeRetry({ category, retry, policy: defaultRetry, seed: 'run:1', ...more });

describe('validation waits', () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
    [9, 256_000],
    [10, 300_000],
    [20, 300_000],
  ])('the wait before validation retry %i is exactly %i ms', (retry, wait_ms) => {
    expect(waitOf('validation_grounding', retry)).toEqual({ wait_ms });
  });

  test('base_ms scales validation waits and factor does not', () => {
    const policy = { ...defaultRetry, base_ms: 10, factor: 7 };
    expect([1, 2, 3].map((retry) => waitOf('validation_both', retry, { policy }))).toEqual([
      { wait_ms: 10 },
      { wait_ms: 20 },
      { wait_ms: 40 },
    ]);
  });
});

describe('no wait where time mends nothing', () => {
  test.each<FailureCategory>(['worker_lost', 'context_length'])(
    'there is no wait before a retry after %s',
    (category) => {
      expect(waitOf(category, 1)).toEqual({ wait_ms: 0 });
      expect(waitOf(category, 7)).toEqual({ wait_ms: 0 });
    },
  );
});

describe('Retry-After', () => {
  test('a Retry-After longer than the backoff is used', () => {
    expect(waitOf('rate_limit', 1, { retry_after_ms: 42_000.5 })).toEqual({ wait_ms: 42_001 });
  });
  test('a Retry-After never shortens the backoff', () => {
    expect(waitOf('rate_limit', 3, { retry_after_ms: 1 })).toEqual(waitOf('rate_limit', 3));
  });
  test('a Retry-After of exactly max_wait_ms is used, and beyond it there is no retry', () => {
    expect(waitOf('rate_limit', 1, { retry_after_ms: 300_000 })).toEqual({ wait_ms: 300_000 });
    expect(waitOf('rate_limit', 1, { retry_after_ms: 300_001 })).toEqual({ give_up: 'retry_after_beyond_max_wait' });
    expect(waitOf('server_error', 1, { retry_after_ms: Infinity })).toEqual({ give_up: 'retry_after_beyond_max_wait' });
  });
  test.each([[-1], [Number.NaN]])('a Retry-After of %d is ignored', (retry_after_ms) => {
    expect(waitOf('rate_limit', 2, { retry_after_ms })).toEqual(waitOf('rate_limit', 2));
  });
  test('a Retry-After is used for a 503 too, and not for a refused connection', () => {
    expect(waitOf('server_error', 1, { retry_after_ms: 9_000 })).toEqual({ wait_ms: 9_000 });
    expect(waitOf('network', 1, { retry_after_ms: 9_000 })).toEqual(waitOf('network', 1));
  });
});

describe('jitter', () => {
  const jittered = fc.constantFrom<FailureCategory>(
    'network',
    'server_error',
    'timeout',
    'rate_limit',
    'unknown_error',
  );
  const retry = fc.integer({ min: 1, max: 20 });

  test('a wait with jitter is between one half and the whole of the exponential wait, in whole milliseconds', () => {
    fc.assert(
      fc.property(jittered, retry, anyRetryPolicy, fc.string(), (category, n, policy, seed) => {
        const answer = waitBeforeRetry({ category, retry: n, policy, seed });
        const whole = Math.min(Math.round(policy.base_ms * policy.factor ** (n - 1)), policy.max_wait_ms);
        const wait = 'wait_ms' in answer ? answer.wait_ms : Number.NaN;
        expect(Number.isInteger(wait)).toBe(true);
        // One millisecond of room: ** and repeated multiplication may round differently.
        expect(wait).toBeGreaterThanOrEqual(whole / 2 - 1);
        expect(wait).toBeLessThanOrEqual(whole + 1);
      }),
    );
  });

  test('jitter is the same for the same seed and spreads over different seeds', () => {
    fc.assert(
      fc.property(jittered, retry, anyRetryPolicy, fc.string(), (category, n, policy, seed) => {
        const ask = () => waitBeforeRetry({ category, retry: n, policy, seed });
        expect(ask()).toEqual(ask());
      }),
    );
    const waits = Array.from({ length: 1_000 }, (_, step) => {
      const answer = waitBeforeRetry({ category: 'network', retry: 1, policy: defaultRetry, seed: `run:${step}` });
      return 'wait_ms' in answer ? answer.wait_ms : Number.NaN;
    });
    const mean = waits.reduce((a, b) => a + b, 0) / waits.length;
    expect(mean).toBeGreaterThan(730);
    expect(mean).toBeLessThan(770);
    expect(new Set(waits).size).toBeGreaterThan(300);
  });

  test('jitter is a fixed function, because these waits are in kept histories', () => {
    const waits = [1, 2, 3, 4].map((n) => waitOf('server_error', n));
    expect(waits).toEqual([{ wait_ms: 809 }, { wait_ms: 1_741 }, { wait_ms: 2_629 }, { wait_ms: 4_561 }]);
  });
});

describe('without jitter', () => {
  test('waits without jitter never get shorter with the number of the retry and never exceed max_wait_ms', () => {
    fc.assert(
      fc.property(anyCategory, fc.integer({ min: 1, max: 200 }), anyRetryPolicy, (category, n, policy) => {
        const wait = maxWait(category, n, policy);
        expect(maxWait(category, n + 1, policy)).toBeGreaterThanOrEqual(wait);
        expect(wait).toBeLessThanOrEqual(policy.max_wait_ms);
      }),
    );
  });
});

describe('the largest wait', () => {
  test('the longest wait is never exceeded for any seed and Retry-After', () => {
    const after = fc.option(fc.double(), { nil: undefined });
    const retry = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(
        anyCategory,
        retry,
        anyRetryPolicy,
        fc.string(),
        after,
        (category, n, policy, seed, retry_after_ms) => {
          const answer = waitBeforeRetry({ category, retry: n, policy, seed, retry_after_ms });
          const wait = 'wait_ms' in answer ? answer.wait_ms : 0;
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(maxWait(category, n, policy));
        },
      ),
    );
  });

  test('the longest wait of a step adds the slowest category before each retry', () => {
    expect(maxWaitPerStep(defaultRetry)).toBe(5 * 300_000);
    expect(maxWaitPerStep(defaultRetry, ['network', 'validation_both'])).toBe(1_000 + 2_000 + 4_000 + 8_000);
    expect(maxWaitPerStep(defaultRetry, ['auth', 'worker_lost', 'context_length'])).toBe(0);
  });
});
