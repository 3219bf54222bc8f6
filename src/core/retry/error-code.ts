import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { statusOf } from './error-facts.ts';
import type { ErrorFacts } from './error-facts.ts';

const MAX_CHARS = 80;
const NOT_OF_A_CODE = /[^A-Za-z0-9_.:-]/g;

const clean = (text: string): string => text.slice(0, MAX_CHARS).replace(NOT_OF_A_CODE, '_');

/** A code is one word. A sentence would give every occurrence its own fingerprint. */
const isCode = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_CHARS && !/\s/.test(value);

/**
 * Returns a short and stable code, because it is part of the fingerprint. It is taken from codes and statuses, and
 * never from the message text.
 */
export const errorCodeOf = (facts: ErrorFacts, category: FailureCategory): string => {
  if (facts.timed_out === true) return 'TIMEOUT';
  const status = statusOf(facts);
  if (status !== undefined) return `HTTP_${Math.trunc(status)}`;
  if (isCode(facts.code)) return clean(facts.code).toUpperCase();
  if (isCode(facts.signal)) return clean(facts.signal).toUpperCase();
  if (typeof facts.exit_code === 'number') return `EXIT_${Math.trunc(facts.exit_code)}`;
  if (isCode(facts.provider_error_type)) return clean(facts.provider_error_type).toUpperCase();
  // This comes before numeric codes, because an AbortError has the code 20, which says nothing useful.
  if (category === 'timeout') return 'TIMEOUT';
  if (typeof facts.code === 'number') return `CODE_${Math.trunc(facts.code)}`;
  if (facts.category !== undefined) return category.toUpperCase();
  return isCode(facts.name) ? clean(facts.name) : 'UNKNOWN';
};
