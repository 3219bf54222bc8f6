/**
 * Categories of failed attempts, which decide how a step is retried (S5). Only the classifier in core/retry assigns
 * them; the strategy table beside it reads them.
 */
export const FAILURE_CATEGORIES = [
  'validation_grounding',
  'validation_reasoning',
  'validation_both',
  'validation_unknown',
  'contract_violation',
  'rate_limit',
  'network',
  'server_error',
  'timeout',
  'context_length',
  'worker_lost',
  'unknown_error',
  'auth',
  'quota',
  'content_filter',
  'invalid_input',
  'pointer_unresolved',
  'retrieval_failure',
  'not_registered',
] as const;
export type FailureCategory = (typeof FAILURE_CATEGORIES)[number];
export const isFailureCategory = (text: unknown): text is FailureCategory =>
  (FAILURE_CATEGORIES as readonly unknown[]).includes(text);
