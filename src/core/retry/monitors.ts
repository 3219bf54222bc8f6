import type { EnhancementArm } from '../../protocol/lessons.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';

/** One attempt of an evaluation. Attempts whose worker was lost are not included. */
export interface EvaluationAttempt {
  ok: boolean;
  /** The category of the failure; null for an attempt that succeeded. */
  category: FailureCategory | null;
  /** The backoff before the attempt. */
  wait_ms: number;
  duration_ms: number;
  cost_micro_usd: number;
  /** Artifact id of the difference between the original and the enhanced prompt. */
  prompt_diff: string | null;
}

/** One piece of work that was checked, from its first attempt to its last. */
export interface Evaluation {
  evaluation_id: string;
  agent: string;
  model: string;
  /**
   * Identifies the evaluated work. Comparing the same subject across models shows whether a failure is caused by the
   * model.
   */
  subject: string;
  attempts: EvaluationAttempt[];
  /** Time of other work in the same batch, such as generation. Overheads are measured against it. */
  other_ms: number;
  other_cost_micro_usd: number;
  /** Absent for evaluations of an older build, which enhanced prompts. */
  arm?: EnhancementArm;
}

export interface RetryFigures {
  tried: number;
  succeeded: number;
  /** The share that succeeded among evaluations that used this retry. */
  success: number | null;
  /** The share that succeeded at this retry among all evaluations whose first attempt failed. */
  recovery: number | null;
}

export interface RemainingFailure {
  evaluation_id: string;
  agent: string;
  model: string;
  subject: string;
  category: FailureCategory | null;
  attempts: number;
  prompt_diffs: string[];
  /**
   * True when another model failed on the subject too, false when another one succeeded, null when no other model has
   * tried.
   */
  persistent_across_models: boolean | null;
}

/** The figures of a group of evaluations. A rate is null when there is nothing to divide by. */
export interface MonitorFigures {
  evaluations: number;
  first_attempt_success: number | null;
  retry_1: RetryFigures;
  retry_2: RetryFigures;
  final_success: number | null;
  recovered: number;
  recovery: number | null;
  added_seconds: number;
  added_cost_micro_usd: number;
  cost_per_extra_success_micro_usd: number | null;
  /** Time and cost that retries added, relative to the whole batch without them. */
  runtime_overhead: number | null;
  cost_overhead: number | null;
  /** The same, relative to the first attempts alone. */
  runtime_overhead_of_attempts: number | null;
  cost_overhead_of_attempts: number | null;
  remaining_failures: RemainingFailure[];
}

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
const sum = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0);

const succeededAt = (evaluation: Evaluation): number => evaluation.attempts.findIndex((attempt) => attempt.ok);
export const hasSucceeded = (evaluation: Evaluation): boolean => succeededAt(evaluation) !== -1;

/**
 * Time and cost of the batch without retries, and those that the retries added. They are integers, so that comparisons
 * with limits are exact.
 */
export interface Effort {
  base_ms: number;
  added_ms: number;
  base_cost_micro_usd: number;
  added_cost_micro_usd: number;
  first_attempts_ms: number;
  first_attempts_cost_micro_usd: number;
}
export const effortOf = (evaluations: readonly Evaluation[]): Effort => {
  const firsts = evaluations.flatMap((evaluation) => evaluation.attempts.slice(0, 1));
  const retries = evaluations.flatMap((evaluation) => evaluation.attempts.slice(1));
  const first_attempts_ms = sum(firsts, (attempt) => attempt.duration_ms);
  const first_attempts_cost_micro_usd = sum(firsts, (attempt) => attempt.cost_micro_usd);
  return {
    base_ms: first_attempts_ms + sum(evaluations, (evaluation) => evaluation.other_ms),
    added_ms: sum(retries, (attempt) => attempt.wait_ms + attempt.duration_ms),
    base_cost_micro_usd: first_attempts_cost_micro_usd + sum(evaluations, (item) => item.other_cost_micro_usd),
    added_cost_micro_usd: sum(retries, (attempt) => attempt.cost_micro_usd),
    first_attempts_ms,
    first_attempts_cost_micro_usd,
  };
};

const figuresOfRetry = (evaluations: readonly Evaluation[], retry: number, firstFailed: number): RetryFigures => {
  const tried = evaluations.filter((evaluation) => evaluation.attempts.length > retry).length;
  const succeeded = evaluations.filter((evaluation) => succeededAt(evaluation) === retry).length;
  return { tried, succeeded, success: share(succeeded, tried), recovery: share(succeeded, firstFailed) };
};

/** Returns whether another model failed on the subject too; null when no other model has tried it. */
const persistsAcrossModels = (failed: Evaluation, all: readonly Evaluation[]): boolean | null => {
  const others = all.filter((other) => other.subject === failed.subject && other.model !== failed.model);
  return others.length === 0 ? null : others.some((other) => !hasSucceeded(other));
};

const remainingFailure = (evaluation: Evaluation, all: readonly Evaluation[]): RemainingFailure => ({
  evaluation_id: evaluation.evaluation_id,
  agent: evaluation.agent,
  model: evaluation.model,
  subject: evaluation.subject,
  category: evaluation.attempts.at(-1)?.category ?? null,
  attempts: evaluation.attempts.length,
  prompt_diffs: evaluation.attempts.flatMap(({ prompt_diff }) => (prompt_diff === null ? [] : [prompt_diff])),
  persistent_across_models: persistsAcrossModels(evaluation, all),
});

/**
 * Computes the figures of one group of evaluations. `all` is used to look up other models' attempts at the same
 * subjects.
 */
export const monitorFigures = (
  evaluations: readonly Evaluation[],
  all: readonly Evaluation[] = evaluations,
): MonitorFigures => {
  const total = evaluations.length;
  const first = evaluations.filter((evaluation) => succeededAt(evaluation) === 0).length;
  const final = evaluations.filter(hasSucceeded).length;
  const effort = effortOf(evaluations);
  return {
    evaluations: total,
    first_attempt_success: share(first, total),
    retry_1: figuresOfRetry(evaluations, 1, total - first),
    retry_2: figuresOfRetry(evaluations, 2, total - first),
    final_success: share(final, total),
    recovered: final - first,
    recovery: share(final - first, total - first),
    added_seconds: effort.added_ms / 1_000,
    added_cost_micro_usd: effort.added_cost_micro_usd,
    cost_per_extra_success_micro_usd: share(effort.added_cost_micro_usd, final - first),
    runtime_overhead: share(effort.added_ms, effort.base_ms),
    cost_overhead: share(effort.added_cost_micro_usd, effort.base_cost_micro_usd),
    runtime_overhead_of_attempts: share(effort.added_ms, effort.first_attempts_ms),
    cost_overhead_of_attempts: share(effort.added_cost_micro_usd, effort.first_attempts_cost_micro_usd),
    remaining_failures: evaluations
      .filter((evaluation) => !hasSucceeded(evaluation))
      .map((evaluation) => remainingFailure(evaluation, all)),
  };
};
