import type { LoopReport, ReviewReport } from '../core/guardrails/loop-report.ts';
import type { Json } from '../protocol/json.ts';

/** The goal and the result of a pass that ran elsewhere, for a model to judge. */
export interface LoopMaterial {
  goal: string;
  output: Json;
  steps?: { tool: string; status: 'ok' | 'failed' | 'skipped' }[];
}

/** The second argument of a `LoopReviewer`. */
export interface LoopReviewContext {
  /** Aborted when nobody waits for the review any more. */
  signal: AbortSignal;
  environment: Record<string, string | undefined>;
  /** Asks the model that the environment configures, in the same way as `modelReviewer` does for the passes of a run. */
  judge(material: LoopMaterial): Promise<ReviewReport>;
}

/**
 * Judges passes that ran elsewhere and are reported without a review. Export it by default from the file that the setting
 * `SECONDWIND_REVIEWER` names. A report does not contain the work itself, so this function has to read it from where it is.
 */
export type LoopReviewer = (report: LoopReport, context: LoopReviewContext) => Promise<ReviewReport> | ReviewReport;
