import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty, ToolEffect } from '../../protocol/tools.ts';
import { waitBeforeRetry } from './backoff.ts';
import { isInfrastructure, retryLimit, strategyOf } from './strategies.ts';
import type { Enhancement, RetryPolicy } from './strategies.ts';

export interface RetryQuestion {
  category: FailureCategory;
  /** The number of retries that this step has had in all categories except infrastructure. */
  retries_used: number;
  infrastructure_used: number;
  certainty: Certainty;
  effect: ToolEffect;
  retry_after_ms?: number | undefined;
  /** The failure itself says that a retry is useless. */
  no_retry?: boolean | undefined;
  /** An earlier attempt of the same command failed in exactly the same way. */
  same_failure?: boolean | undefined;
  policy: RetryPolicy;
  /** Identifies run and step, see `waitBeforeRetry`. */
  seed: string;
}

export type NoRetryReason =
  | 'limit_reached'
  | 'never_retried'
  | 'same_failure'
  | 'unknown_side_effect'
  | 'side_effect_done'
  | 'retry_after_beyond_max_wait';
export type RetryDecision =
  | { retry: true; wait_ms: number; enhancement: Enhancement }
  | { retry: false; reason: NoRetryReason };

const no = (reason: NoRetryReason): RetryDecision => ({ retry: false, reason });

/**
 * Decides whether this step may be tried again, and after which wait. The limit is that of the latest failure's
 * category and the count covers all categories, so no sequence of failures gets more retries than the largest limit.
 * The run's budget is checked elsewhere, by the ledger.
 */
export const decideRetry = (question: RetryQuestion): RetryDecision => {
  const { category, policy } = question;
  // Checked first, whatever the category: a side effect that happened, or may have happened, is never repeated by itself.
  if (question.effect === 'side_effect' && question.certainty === 'unknown') return no('unknown_side_effect');
  if (question.effect === 'side_effect' && question.certainty === 'done') return no('side_effect_done');

  const strategy = strategyOf(category);
  if (strategy.limit === null || question.no_retry === true) return no('never_retried');
  if (question.same_failure === true) return no('same_failure');

  const used = isInfrastructure(category) ? question.infrastructure_used : question.retries_used;
  if (used >= retryLimit(category, policy)) return no('limit_reached');

  const wait = waitBeforeRetry({
    category,
    retry: used + 1,
    policy,
    seed: question.seed,
    retry_after_ms: question.retry_after_ms,
  });
  if ('give_up' in wait) return no(wait.give_up);
  return { retry: true, wait_ms: wait.wait_ms, enhancement: policy.enhance ? strategy.enhancement : 'none' };
};
