import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';
import { applyAction, selectActions, type ActionType } from './actions.ts';
import { detectFeedback } from './detect.ts';
import { buildLogEntry, type FeedbackLogEntry } from './log.ts';
import { scorePrompt } from './rubric.ts';
import type { Detection } from './types.ts';

export type RefineOptions = Partial<Policy['feedback']> & {
  /** The time of the refinement in ISO 8601. Core has no clock. */
  timestamp: string;
  /** Scores a prompt from 0 to 10. Default: the rubric. */
  score?: (prompt: string) => number;
};

export type Refinement = { refined_prompt: string; score: number; iterations: FeedbackLogEntry[] };

/**
 * Applies the actions of the detected type once, in priority order. For callers whose scoring is asynchronous, such as
 * a model.
 */
export function refineOnce(prompt: string, detection: Detection): { prompt: string; applied: ActionType[] } {
  let refined = prompt;
  const applied: ActionType[] = [];
  for (const action of selectActions(detection)) {
    const next = applyAction(refined, action);
    if (next !== refined) applied.push(action.type);
    refined = next;
  }
  return { prompt: refined, applied };
}

/**
 * Refines a prompt with the feedback. Actions are applied before the first score. Refinement stops at the target score,
 * if an iteration changes nothing, or at the maximum. If no type is detected, the prompt is returned unchanged and
 * nothing is logged.
 */
export function refinePrompt(prompt: string, feedback: string, options: RefineOptions): Refinement {
  const limit = options.max_refinement_iterations ?? DEFAULT_POLICY.feedback.max_refinement_iterations;
  const target = options.target_score ?? DEFAULT_POLICY.feedback.target_score;
  const judge = options.score ?? scorePrompt;
  const detection = detectFeedback(feedback);
  const type = detection.feedback_type;
  const iterations: FeedbackLogEntry[] = [];
  if (type === null || limit < 1) return { refined_prompt: prompt, score: judge(prompt), iterations };

  let current = prompt;
  let score = 0;
  for (let iteration = 1; iteration <= limit; iteration += 1) {
    const { prompt: refined, applied } = refineOnce(current, detection);
    score = judge(refined);
    iterations.push(
      buildLogEntry(options.timestamp, {
        original_prompt: current,
        feedback_type: type,
        feedback_signal: feedback,
        actions_applied: applied,
        refined_prompt: refined,
        iteration,
        success: score >= target,
      }),
    );
    const changed = refined !== current;
    current = refined;
    if (score >= target || !changed) break;
  }
  return { refined_prompt: current, score, iterations };
}
