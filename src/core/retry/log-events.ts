import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { IgnoredReport } from './failure-report.ts';
import { retryLimit } from './strategies.ts';
import type { Enhancement, RetryPolicy } from './strategies.ts';

/**
 * Log events about retries. Their names and fields are stable and tested, because people build alerts on them. A field
 * that does not apply is null and never absent, so that every line of one event has the same columns.
 */
export type ValidationFailed = {
  event: 'validation_failed';
  category: FailureCategory;
  exit_code: number | null;
  error_code: string;
  missing: string[];
};

export type ReportOverride = {
  event: 'report_override';
  report: string;
  /** Always 0, because a report never changes another exit code. */
  exit_code_before: 0;
  exit_code: number;
  category: FailureCategory;
  missing: string[];
  ignored: { name: string; because: string }[];
};

export type RetryBackoff = {
  event: 'retry_backoff';
  category: FailureCategory;
  retry: number;
  limit: number;
  wait_ms: number;
  retry_after_ms: number | null;
};

export type PromptEnhanced = {
  event: 'prompt_enhanced';
  category: FailureCategory;
  retry: number;
  enhancement: Enhancement;
  added_chars: number;
  /**
   * Why the note for this failure could not be made, so that a generic note or none was used; null when it was made.
   */
  fell_back_because: string | null;
};

export type RetryLogEvent = ValidationFailed | ReportOverride | RetryBackoff | PromptEnhanced;

export const validationFailed = (failure: {
  category: FailureCategory;
  error_code: string;
  exit_code?: number | null | undefined;
  missing?: readonly string[] | undefined;
}): ValidationFailed => ({
  event: 'validation_failed',
  category: failure.category,
  exit_code: failure.exit_code ?? null,
  error_code: failure.error_code,
  missing: [...(failure.missing ?? [])],
});

export const reportOverride = (found: {
  report: string;
  exit_code: number;
  category: FailureCategory;
  missing: readonly string[];
  ignored: readonly IgnoredReport[];
}): ReportOverride => ({
  event: 'report_override',
  report: found.report,
  exit_code_before: 0,
  exit_code: found.exit_code,
  category: found.category,
  missing: [...found.missing],
  ignored: found.ignored.map(({ name, because }) => ({ name, because })),
});

export const retryBackoff = (retry: {
  category: FailureCategory;
  retry: number;
  policy: RetryPolicy;
  wait_ms: number;
  retry_after_ms?: number | undefined;
}): RetryBackoff => ({
  event: 'retry_backoff',
  category: retry.category,
  retry: retry.retry,
  limit: retryLimit(retry.category, retry.policy),
  wait_ms: retry.wait_ms,
  retry_after_ms: retry.retry_after_ms ?? null,
});

export const promptEnhanced = (enhanced: {
  category: FailureCategory;
  retry: number;
  enhancement: Enhancement;
  added: string;
  fell_back_because: string | null;
}): PromptEnhanced => ({
  event: 'prompt_enhanced',
  category: enhanced.category,
  retry: enhanced.retry,
  enhancement: enhanced.enhancement,
  added_chars: enhanced.added.length,
  fell_back_because: enhanced.fell_back_because,
});
