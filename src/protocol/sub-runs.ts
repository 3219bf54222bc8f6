import type { Json } from './json.ts';
import type { RunResult } from './run.ts';
import type { Policy } from './schemas/policy.ts';
import type { Guidance } from './tools.ts';

/**
 * What a run lets another one use at most, out of what it has left itself. People are the parent's: whoever is
 * responsible for a run is asked by those that work for it too.
 */
export interface Grant {
  budget: Pick<
    Policy['budget'],
    'max_steps' | 'max_attempts' | 'max_model_calls' | 'max_tokens' | 'max_cost_micro_usd' | 'max_seconds'
  >;
  humans: Policy['humans'];
}

/** What a run answers to one that was started elsewhere to work for it. */
export interface Loan {
  /** Null: nothing is left to draw on, or it has ended. */
  grant: Grant | null;
  /** False where the same run had asked before. */
  is_new: boolean;
}

/** Where a run that is a step of another stands in it. */
export interface SubRunPlace {
  run_id: string;
  loop_id: string;
  step_id: number;
  attempt: number;
  phase: string;
  tool: string;
  guidance: Guidance;
  waited_ms: number;
}
export interface SubRunRequest extends SubRunPlace {
  sub_run_id: string;
  agent: string;
  goal: string;
  input: Json;
  grant: Grant;
}

/** How it ended, as far as its parent has to know. */
export type SubRunResult = Pick<RunResult, 'outcome' | 'why' | 'result' | 'used' | 'questions'>;

export type SubRunOutcome =
  | { class: 'ended'; result: SubRunResult; duration_ms: number }
  /** Nobody can say how far it came: what it was granted counts as used. */
  | { class: 'lost'; why: string; duration_ms: number }
  | { class: 'not_started'; why: string; duration_ms: number };
