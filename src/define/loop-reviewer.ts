import type { LoopReport, ReviewReport } from '../core/guardrails/loop-report.ts';
import type { Json } from '../protocol/json.ts';

/** What a loop that ran elsewhere was to do and what came of it, for a model to judge. */
export interface LoopMaterial {
  goal: string;
  output: Json;
  steps?: { tool: string; status: 'ok' | 'failed' | 'skipped' }[];
}

export interface LoopReviewContext {
  /** Aborted when the judgement would come too late. */
  signal: AbortSignal;
  environment: Record<string, string | undefined>;
  /** Has the environment's model judge it, as `modelReviewer` judges the passes of a run. */
  judge(material: LoopMaterial): Promise<ReviewReport>;
}

/**
 * Judges loops that are reported to a server without a review: the default export of the file that `SECONDWIND_REVIEWER`
 * names. A report carries no work, so only its owner knows where to look for it.
 */
export type LoopReviewer = (report: LoopReport, context: LoopReviewContext) => Promise<ReviewReport> | ReviewReport;
