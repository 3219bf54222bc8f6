import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { statusOf } from './error-facts.ts';
import type { ErrorFacts } from './error-facts.ts';

const MAX_CHARS = 80;
const NOT_OF_A_CODE = /[^A-Za-z0-9_.:-]/g;

const clean = (text: string): string => text.slice(0, MAX_CHARS).replace(NOT_OF_A_CODE, '_');

/** A code is one word; a sentence in its place would make every occurrence a failure of its own. */
const isCode = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_CHARS && !/\s/.test(value);

/** Short and stable, because a fingerprint is made of it: what the machine said, never the sentence around it. */
export const errorCodeOf = (facts: ErrorFacts, category: FailureCategory): string => {
  if (facts.timed_out === true) return 'TIMEOUT';
  const status = statusOf(facts);
  if (status !== undefined) return `HTTP_${Math.trunc(status)}`;
  if (isCode(facts.code)) return clean(facts.code).toUpperCase();
  if (isCode(facts.signal)) return clean(facts.signal).toUpperCase();
  if (typeof facts.exit_code === 'number') return `EXIT_${Math.trunc(facts.exit_code)}`;
  if (isCode(facts.provider_error_type)) return clean(facts.provider_error_type).toUpperCase();
  // Before numbers: an AbortError carries the number 20, which tells nobody anything.
  if (category === 'timeout') return 'TIMEOUT';
  if (typeof facts.code === 'number') return `CODE_${Math.trunc(facts.code)}`;
  if (facts.category !== undefined) return category.toUpperCase();
  return isCode(facts.name) ? clean(facts.name) : 'UNKNOWN';
};
