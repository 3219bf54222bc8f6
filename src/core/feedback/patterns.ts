import { PARTIAL_FAMILIES, REJECTION_FAMILIES } from './patterns-people.ts';
import { RUNTIME_FAMILIES } from './patterns-runtime.ts';
import { VERIFICATION_FAMILIES } from './patterns-verification.ts';
import type { FeedbackType } from './types.ts';

/**
 * A family is one of the three patterns that the specification lists for each type. It covers the words, their forms,
 * and the result lines of test runners and compilers with the same meaning.
 *
 * - `reports` are lines that only a failing tool prints; they count anywhere.
 * - `words` are words of prose; they count unless the sentence denies, supposes, asks or only names them (negation.ts).
 *
 * Repeats are bounded and a line has at most LINE_LIMIT_CHARS, so the cost per line is bounded and the whole is linear.
 */
export type Family = { pattern: string; reports: RegExp[]; words: RegExp[] };

export const FAMILIES: Record<FeedbackType, Family[]> = {
  verification_failure: VERIFICATION_FAMILIES,
  runtime_error: RUNTIME_FAMILIES,
  partial_success: PARTIAL_FAMILIES,
  user_rejection: REJECTION_FAMILIES,
};
