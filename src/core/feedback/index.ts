export { applyAction, selectActions, type ActionType, type RefinementAction } from './actions.ts';
export { detectFeedback } from './detect.ts';
export { buildLogEntry, type FeedbackLogEntry } from './log.ts';
export { scorePrompt } from './rubric.ts';
export { refineOnce, refinePrompt, type Refinement, type RefineOptions } from './refine.ts';
export { SCAN_LIMIT_CHARS } from './scanned-text.ts';
export {
  FEEDBACK_TYPES,
  type Detection,
  type FeedbackContext,
  type FeedbackMatch,
  type FeedbackType,
} from './types.ts';
