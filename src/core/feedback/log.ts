import { CAP } from '../../protocol/caps.ts';
import type { ActionType } from './actions.ts';
import type { FeedbackType } from './types.ts';

/** One iteration of a refinement, in the log's format. */
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

/** Builds the entry for the log. The feedback may be a tool's whole output, so it is cut to the log's cap. */
export function buildLogEntry(timestamp: string, entry: Omit<FeedbackLogEntry, 'timestamp'>): FeedbackLogEntry {
  const signal = entry.feedback_signal;
  const cut = signal.length <= CAP.textChars ? signal : `${signal.slice(0, CAP.textChars - 1)}…`;
  return { timestamp, ...entry, feedback_signal: cut };
}
