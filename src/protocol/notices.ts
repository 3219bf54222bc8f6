import type { PendingQuestion } from './run.ts';

/** An open question on its way to people who are not looking: what the webhooks of `humans.notify` carry. */
export interface QuestionNotice {
  run_id: string;
  agent: string;
  goal: string;
  question: PendingQuestion;
  /** How often it was passed on to the next of the chain. */
  escalation: number;
  /** Whose turn it is; null for the first. */
  to: string | null;
  urls: string[];
}
