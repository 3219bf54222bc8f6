/** What runs look like from outside. Types alone: whoever reads them over HTTP loads nothing of Temporal. */
import type { FailureStanding } from '../core/failures/fold-failures.ts';
import type { OverrideAnswer } from '../core/guardrails/family-overrides.ts';
import type { Json } from '../protocol/json.ts';
import type { Bound, PendingQuestion, RunLifeState, RunOutcome, RunResult, RunStatus } from '../protocol/run.ts';
import type { FailureRecord } from '../protocol/schemas/failure-record.ts';
import type { GuidanceRow } from '../protocol/tools.ts';

export type { OverrideAnswer };

export interface StartedRun {
  run_id: string;
  workflow_id: string;
  bound: Bound;
}

/** A run as a list shows it. */
export interface ListedRun {
  run_id: string;
  agent: string;
  goal: string;
  state: RunLifeState;
  outcome?: RunOutcome;
  labels: string[];
  attempts: number;
  pending_question?: PendingQuestion;
  /** Of a run that was handed over: when its latest execution started. */
  started_at: string;
  ended_at: string | null;
}

export interface RunFilter {
  state?: RunLifeState;
  agent?: string;
  outcome?: RunOutcome;
  label?: string;
  cursor?: string;
  limit?: number;
}
export interface RunPage {
  runs: ListedRun[];
  next_cursor: string | null;
}

export type AskedQuestion = PendingQuestion & Pick<ListedRun, 'run_id' | 'agent' | 'goal'>;
export interface QuestionPage {
  questions: AskedQuestion[];
  next_cursor: string | null;
}

export interface ProjectedAttempt {
  attempt: number;
  started_at: string;
  ended_at: string | null;
  outcome: 'ok' | 'failed' | 'cancelled' | 'running';
  wait_ms: number;
  failure_id?: string;
  manifest_id?: string;
}
export interface ProjectedStep {
  loop_id: string;
  step_id: number;
  phase: string;
  tool: string;
  attempts: ProjectedAttempt[];
}

export type Standing = Pick<
  FailureStanding,
  'status' | 'occurrence_count' | 'last_seen_step_id' | 'helpful_count' | 'harmful_count'
>;
export type FailureItem = FailureRecord & Standing;

export interface ShownGuidance {
  step_id: number;
  attempt: number;
  /** The exact bytes that the attempt saw. */
  guidance: string;
  rows: GuidanceRow[];
}

export interface AnswerTaken {
  accepted: boolean;
  question_id: string;
  state: string;
  /** Why it was not taken. */
  reason?: string;
}
export interface FeedbackTaken {
  feedback_type: string | null;
  confidence: number;
  effect: string;
}
export type StoppedRun = { state: 'ended'; status: RunStatus } | { state: 'stopping'; waiting_for: string[] };

/** How a run ended. `reason`, `loops` and `questions` are null once nobody remembers more than the outcome. */
export type RunEnd<Output = Json> = Pick<
  RunResult<Output>,
  'run_id' | 'agent' | 'outcome' | 'result' | 'used' | 'failures' | 'started_at' | 'ended_at'
> & { reason: string | null; why: string; loops: number | null; questions: number | null; bound: Bound | null };
