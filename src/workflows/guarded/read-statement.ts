import { defined } from '../../protocol/json.ts';
import type { ApplicationFailure } from '@temporalio/common';
import { classifyError } from '../../core/retry/classify-error.ts';
import { isBag, readFacts, statusOf } from '../../core/retry/error-facts.ts';
import { isInfrastructure } from '../../core/retry/strategies.ts';
import { type FailureCategory, isFailureCategory } from '../../protocol/failure-categories.ts';
import type { CallFailed, Certainty } from '../../protocol/tools.ts';

/** What an `ApplicationFailure` states about the call that failed. */
export interface Statement extends Pick<CallFailed, 'category' | 'error_code' | 'retry_after_ms' | 'no_retry'> {
  /** Undefined if the failure does not state it. A category or a status alone proves nothing about an effect. */
  certainty: Certainty | undefined;
}

/**
 * Reads what a failure states: `details[0]` first (`category`, `certainty`, `http_status` or `status`, `code` or
 * `error_code`, `retry_after_ms`), then its `type` if that is a category, an HTTP status or a known code, then
 * `nonRetryable`. The message is not interpreted, because its wording is not a statement.
 */
export function readStatement(failure: ApplicationFailure): Statement {
  const given: unknown = failure.details?.[0];
  const details = isBag(given) ? given : {};
  const { category, certainty, code, http_status, retry_after_ms } = readFacts({
    ...details,
    code: details['code'] ?? details['error_code'],
    http_status: details['http_status'] ?? details['status'],
  });
  const type = failure.type ?? undefined;
  const status = statusOf({ code, http_status }) ?? readStatus(type);
  const classified = classifyError({
    category: statedCategory(category) ?? statedCategory(type),
    // Without a code of its own the failure is looked up by its type, for example RESOURCE_EXHAUSTED.
    code: code ?? (status === undefined ? type : undefined),
    http_status: status,
    retry_after_ms,
  });
  const ownCode = typeof code === 'string' ? code : undefined;
  return {
    category: classified.category,
    // The type stays the code, because failures that were recorded before are known by it.
    error_code: (ownCode ?? (status === undefined ? type : undefined) ?? classified.error_code).slice(0, 80),
    certainty,
    ...defined({ retry_after_ms: classified.retry_after_ms }),
    ...(failure.nonRetryable === true && { no_retry: true as const }),
  };
}

/** An activity cannot state a category of the infrastructure, because such failures make no failure record. */
const statedCategory = (text: unknown): FailureCategory | undefined =>
  isFailureCategory(text) && !isInfrastructure(text) ? text : undefined;

/** Reads the status from a type such as `HTTP_429`, `HTTP 429` or `429`. */
function readStatus(type: string | undefined): number | undefined {
  const found = /^(?:HTTP[ _-]?)?([45]\d\d)$/i.exec(type ?? '');
  return found === null ? undefined : Number(found[1]);
}
