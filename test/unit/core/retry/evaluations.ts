import type { Evaluation, EvaluationAttempt } from '../../../../src/core/retry/monitors.ts';
import type { FailureCategory } from '../../../../src/protocol/failure-categories.ts';

/** The seed's figures: an evaluator call is 4 s and 300 micro-USD, validation waits 1 s and 2 s. */
export const CALL_MS = 4_000;
export const CALL_COST = 300;
/** The seed's batch takes about 6 minutes for its 14 evaluations, generation included. */
export const BATCH_MS = 360_000;

/** One attempt per entry: a category that failed it, or `ok`. */
export const attemptsOf = (outcomes: readonly (FailureCategory | 'ok')[]): EvaluationAttempt[] =>
  outcomes.map((outcome, index) => ({
    ok: outcome === 'ok',
    category: outcome === 'ok' ? null : outcome,
    wait_ms: index === 0 ? 0 : 1_000 * 2 ** (index - 1),
    duration_ms: CALL_MS,
    cost_micro_usd: CALL_COST,
    prompt_diff: index === 0 ? null : `diff-of-retry-${index}`,
  }));

export const evaluation = (
  outcomes: readonly (FailureCategory | 'ok')[],
  more: Partial<Evaluation> = {},
): Evaluation => ({
  evaluation_id: 'e',
  agent: 'greenbag',
  model: 'gemini-2.5-flash-lite',
  subject: 'document',
  attempts: attemptsOf(outcomes),
  other_ms: BATCH_MS / 14 - CALL_MS,
  other_cost_micro_usd: 9_700,
  ...more,
});

/**
 * The seed's batch: 7 documents × 2 evaluators, of which two evaluations by gemini-2.5-flash-lite fail. How those two go
 * on is given: nothing (as it was), both recovered (its conservative estimate), or one (its realistic one).
 */
export const seedBatch = (
  ab2b6e81: readonly (FailureCategory | 'ok')[],
  x8e389e4a: readonly (FailureCategory | 'ok')[],
): Evaluation[] => {
  const documents = Array.from({ length: 7 }, (_, index) => `document-${index + 1}`);
  return documents.flatMap((subject, index) => [
    evaluation(index === 0 ? ab2b6e81 : index === 1 ? x8e389e4a : ['ok'], {
      evaluation_id: index === 0 ? 'ab2b6e81' : index === 1 ? '8e389e4a' : `flash-lite-${index}`,
      subject,
    }),
    evaluation(['ok'], { evaluation_id: `other-${index}`, model: 'other-evaluator', subject }),
  ]);
};
