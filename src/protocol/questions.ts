import type { Json } from './json.ts';
import type { AmountLimits, Amounts } from './run.ts';

export const DECISIONS = ['done', 'not_done', 'retry', 'skip', 'stop', 'correct', 'approve', 'deny'] as const;
export type Decision = (typeof DECISIONS)[number];

/**
 * What a question is about. `failure`: a step or a turn of the planner failed for good. `unusable_output`: a side effect
 * happened, but its output cannot be used. `output`: the output that a person gave does not fit. `stuck`: the agent repeats
 * itself. `pass`: a guardrail would end the run.
 */
export const QUESTION_KINDS = [
  'approval',
  'failure',
  'unknown_effect',
  'unusable_output',
  'output',
  'stuck',
  'pass',
] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** An open question with everything that a person needs to decide. The same in every door. */
export interface PendingQuestion {
  question_id: string;
  kind: QuestionKind;
  text: string;
  fingerprint?: string;
  /** The step that the question is about. Absent for the planner and for a pass, which are not steps. */
  step_id?: number;
  /** The tool of that step, or `planner`. */
  tool?: string;
  /**
   * A redacted preview of the input of the call: if its JSON has more than 2,000 characters, a text with the beginning of that
   * JSON. Absent if the question is not about a call.
   */
  input?: Json;
  /** Set if `input` is only the beginning: how many characters the whole JSON has. */
  input_chars?: number;
  /** The artifact with the whole input. It is written when the question is asked. */
  input_artifact_id?: string;
  /** The reason that the model or planner gave: the text that it wrote beside the call. */
  reason?: string;
  /** What was tried before the question, one line each. */
  tried: string[];
  /** What the run has used so far, and its limits. */
  budget: QuestionBudget;
  options: Decision[];
  /** What each option does, in one sentence. */
  choices: QuestionChoice[];
  asked_at: string;
  deadline: string;
  /** What happens after the deadline if nobody answers. */
  if_unanswered: { decision: Decision; does: string };
}

export interface QuestionBudget {
  used: Amounts;
  limit: AmountLimits;
  /** False if the model has no price, so that `cost_micro_usd` does not say what the run cost. */
  cost_known: boolean;
}

export interface QuestionChoice {
  option: Decision;
  does: string;
}

/** A value that a person changed. `from` is absent if it was added, `to` if it was removed; long values are cut. */
export interface InputChange {
  path: string;
  from?: Json;
  to?: Json;
}

/** A person's change of the input of a call, before the call ran. */
export interface EditedInput {
  by: string;
  changes: InputChange[];
  /** The artifact with the input before the change. */
  from_artifact_id?: string;
}

/** How a question was closed. A timeout is not a denial, and the model is told which one happened. */
export type AnswerKind = 'answered' | 'denied' | 'timed_out' | 'policy';
