import type { InheritedEffects } from './effects.ts';
import type { Json } from './json.ts';
import type { RunResult } from './run.ts';
import type { Policy } from './schemas/policy.ts';
import type { Guidance } from './tools.ts';

/**
 * The budget that a run grants to another run, out of what it has left. Sub-runs ask the same people as their parent.
 */
export interface Grant {
  budget: Pick<
    Policy['budget'],
    'max_steps' | 'max_attempts' | 'max_model_calls' | 'max_tokens' | 'max_cost_micro_usd' | 'max_seconds'
  >;
  humans: Policy['humans'];
}

/** A run's answer to a sub-run that was started elsewhere and asks for budget. */
export interface Loan {
  /** Null if nothing is left, or the run has ended. */
  grant: Grant | null;
  /** False if the same sub-run has asked before. */
  is_new: boolean;
  /** What is known about effects; absent without a grant. */
  effects?: InheritedEffects;
}

/** The place of a sub-run in its parent. */
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
  /** The tenant of the run that asks; absent if it has none. */
  tenant?: string;
  goal: string;
  input: Json;
  grant: Grant;
  /** What is known about effects, so that the sub-run repeats none of them. */
  effects: InheritedEffects;
}

/** The part of a sub-run's result that its parent needs. */
export type SubRunResult = Pick<RunResult, 'outcome' | 'why' | 'result' | 'used' | 'questions' | 'effects'>;

export type SubRunOutcome =
  | { class: 'ended'; result: SubRunResult; duration_ms: number }
  /** It is unknown how far the sub-run got, so its whole grant counts as used. */
  | { class: 'lost'; why: string; duration_ms: number }
  | { class: 'not_started'; why: string; duration_ms: number };
