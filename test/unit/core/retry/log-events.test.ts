import { expect, test } from 'vitest';
import { enhancePrompt } from '../../../../src/core/retry/enhancement.ts';
import {
  promptEnhanced,
  reportOverride,
  retryBackoff,
  validationFailed,
} from '../../../../src/core/retry/log-events.ts';
import { readReport } from '../../../../src/core/retry/failure-report.ts';
import type { RetryLogEvent } from '../../../../src/core/retry/log-events.ts';
import type { RunLogEvent } from '../../../../src/core/run/ports.ts';
import { defaultRetry } from './policies.ts';

const logged = (event: RetryLogEvent): RunLogEvent => event;

test('validation_failed says what was missing', () => {
  expect(logged(validationFailed({ category: 'validation_grounding', error_code: 'EXIT_1', exit_code: 1 }))).toEqual({
    event: 'validation_failed',
    category: 'validation_grounding',
    exit_code: 1,
    error_code: 'EXIT_1',
    missing: [],
  });
});

test('report_override names the report, the new exit code and the ignored reports', () => {
  const ignored = [{ name: 'b-FAILURE-REPORT.json', because: 'other_owner' as const }];
  const found = readReport('{"missing": ["reasoning"]}');
  expect(logged(reportOverride({ report: 'a-FAILURE-REPORT.json', ...found, ignored }))).toEqual({
    event: 'report_override',
    report: 'a-FAILURE-REPORT.json',
    exit_code_before: 0,
    exit_code: 2,
    category: 'validation_reasoning',
    missing: ['reasoning'],
    ignored,
  });
});

test('retry_backoff says which retry of how many, and how long it waits', () => {
  expect(logged(retryBackoff({ category: 'rate_limit', retry: 2, policy: defaultRetry, wait_ms: 1_500 }))).toEqual({
    event: 'retry_backoff',
    category: 'rate_limit',
    retry: 2,
    limit: 5,
    wait_ms: 1_500,
    retry_after_ms: null,
  });
});

test('prompt_enhanced says what was really added', () => {
  const enhanced = enhancePrompt({ prompt: 'p', category: 'validation_reasoning', retry: 1 });
  expect(logged(promptEnhanced({ category: 'validation_reasoning', retry: 1, ...enhanced }))).toEqual({
    event: 'prompt_enhanced',
    category: 'validation_reasoning',
    retry: 1,
    enhancement: 'reasoning',
    added_chars: enhanced.added.length,
    fell_back_because: null,
  });
});
