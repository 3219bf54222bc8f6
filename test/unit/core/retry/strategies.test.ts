import { describe, expect, test } from 'vitest';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import type { FailureCategory } from '../../../../src/protocol/failure-categories.ts';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';
import { isInfrastructure, maxRetriesPerStep, retryLimit, strategyOf } from '../../../../src/core/retry/strategies.ts';

const { retry } = DEFAULT_POLICY;

describe('the strategy table', () => {
  const table: [FailureCategory, number, string, string, string][] = [
    ['validation_grounding', 2, 'validation', 'prompt', 'grounding'],
    ['validation_reasoning', 2, 'validation', 'prompt', 'reasoning'],
    ['validation_both', 2, 'validation', 'prompt', 'both'],
    ['validation_unknown', 2, 'validation', 'prompt', 'both'],
    ['contract_violation', 2, 'validation', 'prompt', 'generic'],
    ['rate_limit', 5, 'retry_after', 'time', 'none'],
    ['network', 4, 'exponential_jitter', 'time', 'none'],
    ['server_error', 4, 'retry_after', 'time', 'none'],
    ['timeout', 2, 'exponential_jitter', 'time', 'none'],
    ['context_length', 1, 'none', 'prompt', 'generic'],
    ['worker_lost', 2, 'none', 'infrastructure', 'none'],
    ['unknown_error', 2, 'exponential_jitter', 'time', 'none'],
    ['auth', 0, 'none', 'human', 'none'],
    ['quota', 0, 'none', 'human', 'none'],
    ['content_filter', 0, 'none', 'model', 'none'],
    ['invalid_input', 0, 'none', 'model', 'none'],
    ['pointer_unresolved', 0, 'none', 'nobody', 'none'],
    ['retrieval_failure', 0, 'none', 'model', 'none'],
    ['not_registered', 2, 'exponential_jitter', 'infrastructure', 'none'],
  ];
  test.each(table)(
    '%s has %i retries by default, backoff %s, is fixed by %s and enhanced by %s',
    (category, ...row) => {
      const { backoff, fixed_by, enhancement } = strategyOf(category);
      expect([retryLimit(category, retry), backoff, fixed_by, enhancement]).toEqual(row);
    },
  );

  test('the table of strategies has every category', () => {
    expect(table.map(([category]) => category)).toEqual([...FAILURE_CATEGORIES]);
  });
});

describe('the largest limit', () => {
  test('the most retries of a step are 5 by default, from rate_limit', () => {
    expect(maxRetriesPerStep(retry)).toBe(5);
  });
  test('the most retries of a step leave out infrastructure, which has a limit of its own', () => {
    expect(maxRetriesPerStep({ ...retry, worker_lost: 20 })).toBe(5);
    expect(maxRetriesPerStep(retry, ['worker_lost', 'not_registered'])).toBe(0);
    expect(FAILURE_CATEGORIES.filter(isInfrastructure)).toEqual(['worker_lost', 'not_registered']);
  });
  test('the most retries of a step depend only on the given categories', () => {
    expect(maxRetriesPerStep(retry, ['server_error', 'auth'])).toBe(4);
    expect(maxRetriesPerStep(retry, [])).toBe(0);
  });
});
