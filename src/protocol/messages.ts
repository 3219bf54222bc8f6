import type { Decision } from './run.ts';

/** What people send to a run. The same bodies travel as signals, updates and HTTP requests. */
export interface OverrideMessage {
  type: 'override';
  override_fatigue?: boolean;
  override_max_reruns?: boolean;
  override_by: string;
  override_reason?: string;
}
export interface AnswerMessage {
  type: 'answer';
  question_id: string;
  decision: Decision;
  text?: string;
  by: string;
}
export interface FeedbackMessage {
  type: 'feedback';
  text: string;
  by: string;
}
export interface CancelMessage {
  type: 'cancel_run';
  by: string;
  reason?: string;
}
export type RunMessage = OverrideMessage | AnswerMessage | FeedbackMessage | CancelMessage;
