export { applyAction, refinementActions, type ActionType, type RefinementAction } from './actions.ts';
export { detectFeedback } from './detect.ts';
export { feedbackLogEntry, type FeedbackLogEntry } from './log.ts';
export { promptScore } from './rubric.ts';
export { refineOnce, refinePrompt, type Refinement, type RefineOptions } from './refine.ts';
export { SCAN_LIMIT_CHARS } from './text.ts';
export {
  FEEDBACK_TYPES,
  type Detection,
  type FeedbackContext,
  type FeedbackMatch,
  type FeedbackType,
} from './types.ts';
