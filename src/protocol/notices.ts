import type { PendingQuestion } from './questions.ts';

/** Notice of an open question, as it is sent to the webhooks of `humans.notify`. */
export interface QuestionNotice {
  run_id: string;
  agent: string;
  goal: string;
  question: PendingQuestion;
  /** How often the question was escalated to the next person. */
  escalation: number;
  /** The person who is asked now; null for the first. */
  to: string | null;
  urls: string[];
}
