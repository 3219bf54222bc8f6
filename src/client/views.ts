/** The views of runs that the client returns. Only types, so that the HTTP client does not load Temporal. */
import type { FailureStanding } from '../core/failures/fold-failures.ts';
import type { OverrideAnswer } from '../core/guardrails/family-overrides.ts';
import type { Json } from '../protocol/json.ts';
import type { EditedInput, InputChange, PendingQuestion } from '../protocol/questions.ts';
import type { Bound, RunLifeState, RunOutcome, RunResult, RunStatus } from '../protocol/run.ts';
import type { FailureRecord } from '../protocol/schemas/failure-record.ts';
import type { GuidanceRow } from '../protocol/tools.ts';

export type { OverrideAnswer };

/** A run that was just started. */
export interface StartedRun {
  run_id: string;
  workflow_id: string;
  bound: Bound;
}

/** A run in a list. */
export interface ListedRun {
  run_id: string;
  agent: string;
  goal: string;
  state: RunLifeState;
  outcome?: RunOutcome;
  labels: string[];
  /** Absent for a run without a tenant. */
  tenant?: string;
  attempts: number;
  pending_question?: PendingQuestion;
  /** When the run started; after a hand-over (continue-as-new), when its latest execution started. */
  started_at: string;
  ended_at: string | null;
}

/** Which runs `list` returns. */
export interface RunFilter {
  state?: RunLifeState;
  agent?: string;
  outcome?: RunOutcome;
  label?: string;
  /**
   * Words that id, goal, agent, labels and tenant of a run together contain, in upper or lower case. One request looks through a limited
   * number of runs, so a page of a search can have few runs or none while `next_cursor` says that there is more to look through.
   */
  search?: string;
  cursor?: string;
  limit?: number;
}
/** One page of `list`. Pass `next_cursor` as `cursor` to get the next page. */
export interface RunPage {
  runs: ListedRun[];
  next_cursor: string | null;
}

/** An open question, with the run that asks it. */
export type AskedQuestion = PendingQuestion & Pick<ListedRun, 'run_id' | 'agent' | 'goal'>;
/** One page of `questions`. */
export interface QuestionPage {
  questions: AskedQuestion[];
  next_cursor: string | null;
}

/** One attempt of a step. */
export interface ProjectedAttempt {
  attempt: number;
  started_at: string;
  ended_at: string | null;
  outcome: 'ok' | 'failed' | 'cancelled' | 'running';
  wait_ms: number;
  /** A redacted preview of the output, if the attempt succeeded. */
  output?: Json;
  /** The artifact with the whole output. */
  output_artifact_id?: string;
  failure_id?: string;
  manifest_id?: string;
}
/**
 * One step of a run, with all its attempts. `input` and `output` are redacted previews: a value whose JSON has more than 2,000
 * characters is a text with the beginning of that JSON. The artifact has the whole value.
 */
export interface ProjectedStep {
  loop_id: string;
  step_id: number;
  phase: string;
  tool: string;
  /**
   * The input of the latest attempt. Once Temporal has deleted the run's history, the input as the plan or the planner gave it, with
   * its pointers; null if the store does not have it.
   */
  input: Json;
  /** The artifact with the whole input, if the store has it: an input that its preview shows whole is not stored. */
  input_artifact_id?: string;
  /** Set if a person changed the input before the call ran. */
  edited?: EditedInput;
  attempts: ProjectedAttempt[];
}

/** What a run was started with, redacted. The artifacts have the exact values; they exist once the run has ended. */
export interface GivenRequest {
  run_id: string;
  agent: string;
  goal: string;
  /** Null if the agent plans itself. */
  plan: Json;
  input: Json;
  plan_artifact_id: string | null;
  input_artifact_id: string | null;
}

/** One message of a conversation with a model, redacted. */
export interface TranscriptMessage {
  /** The turn that sent it first, or answered with it. Turns are counted from 1 over all passes of the run. */
  turn: number;
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text; for the result of a tool its JSON. */
  content: string;
  /** The tool calls that the model asked for with this message. */
  tool_calls?: { id: string; tool: string; input: Json }[];
  /** For the result of a tool: the call that it belongs to. */
  tool_call_id?: string;
}
/** One page of `transcript`. Pass `next_cursor` as `cursor` to get the next page. */
export interface TranscriptPage {
  transcript: TranscriptMessage[];
  next_cursor: string | null;
}

/** One request to a model, as it was sent. */
export interface Prompt {
  /** Counted from 1 over the whole run. */
  request: number;
  turn: number;
  /** Counted from 1 in its turn. A later one is a retry. */
  attempt: number;
  at: string;
  /** All messages of the request, redacted. Present only if this request was asked for. */
  messages?: TranscriptMessage[];
}

/** The current status of a fingerprint. */
export type Standing = Pick<
  FailureStanding,
  'status' | 'occurrence_count' | 'last_seen_step_id' | 'helpful_count' | 'harmful_count'
>;
/** A failure record, with the current status of its fingerprint. */
export type FailureItem = FailureRecord & Standing;

/** The guidance that one attempt was shown. */
export interface ShownGuidance {
  step_id: number;
  attempt: number;
  /** The exact text that the attempt was shown. */
  guidance: string;
  rows: GuidanceRow[];
}

/** Whether an answer was accepted. */
export interface AnswerTaken {
  accepted: boolean;
  question_id: string;
  state: string;
  /** Why the answer was not accepted. */
  reason?: string;
  /** What the answer changed in the input of the call. */
  changes?: InputChange[];
}
/** Feedback that the run accepted. */
export interface FeedbackTaken {
  feedback_type: string | null;
  confidence: number;
  effect: string;
}
/** A cancelled run: it has ended, or still waits for the listed attempts. */
export type StoppedRun = { state: 'ended'; status: RunStatus } | { state: 'stopping'; waiting_for: string[] };

/** How a run ended. `reason`, `loops` and `questions` are null if only the outcome is still known. */
export type RunEnd<Output = Json> = Pick<
  RunResult<Output>,
  'run_id' | 'agent' | 'outcome' | 'result' | 'used' | 'failures' | 'unsaved' | 'effects' | 'started_at' | 'ended_at'
> & { reason: string | null; why: string; loops: number | null; questions: number | null; bound: Bound | null };
