/**
 * The figures that the source document gives for its own batch. Everything else in the evaluation follows from these.
 */
export const SEED = {
  evaluations: 14,
  failed_first: 2,
  /** One evaluation, including generation. Fourteen of them are its "about 6 minutes". */
  work_ms: 25_700,
  work_cost_micro_usd: 10_000,
  /** The part of it that is the call of the evaluator, which a retry repeats. */
  call_ms: 4_000,
  call_tokens: 3_500 + 300,
  call_cost_micro_usd: 300,
} as const;

/** How the scripted provider behaves. This is assumed, not measured: no model was called. */
export const ASSUMED = {
  mends_when_told: 0.7,
  mends_when_not_told: 0.1,
  /** One failure in this many is never fixed. */
  never_in: 5,
} as const;
