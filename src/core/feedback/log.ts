import { CAP } from '../../protocol/caps.ts';
import type { ActionType } from './actions.ts';
import type { FeedbackType } from './types.ts';

/** One iteration of a refinement, in the seed's shape. */
export type FeedbackLogEntry = {
  timestamp: string;
  original_prompt: string;
  feedback_type: FeedbackType;
  feedback_signal: string;
  actions_applied: ActionType[];
  refined_prompt: string;
  iteration: number;
  success: boolean;
};

/** The entry as it is kept: the feedback may be a tool's whole output, so it is cut to what the log can carry. */
export function feedbackLogEntry(timestamp: string, entry: Omit<FeedbackLogEntry, 'timestamp'>): FeedbackLogEntry {
  const signal = entry.feedback_signal;
  const cut = signal.length <= CAP.textChars ? signal : `${signal.slice(0, CAP.textChars - 1)}…`;
  return { timestamp, ...entry, feedback_signal: cut };
}
