import type { Json } from '../../protocol/json.ts';
import type { ReviewReport } from '../guardrails/loop-report.ts';
import type { RecallQuery, RunLesson } from '../../protocol/lessons.ts';
import type { QuestionNotice } from '../../protocol/notices.ts';
import type { RecordBatch, RunArchive, SaveOutcome } from '../../protocol/records.ts';
import type { EditedInput, PendingQuestion } from '../../protocol/questions.ts';
import type { RunLifeState, RunOutcome } from '../../protocol/run.ts';
import type { SubRunOutcome, SubRunRequest } from '../../protocol/sub-runs.ts';
import type {
  CallCancelled,
  CallFailed,
  CallOutcome,
  CheckedOutput,
  DetectedFeedback,
  Guidance,
  OutputToCheck,
  RetryContext,
  ReconcileOutcome,
  ToolCallRequest,
} from '../../protocol/tools.ts';

/** The input of one planner turn. */
export interface PlannerView {
  run_id: string;
  agent: string;
  goal: string;
  /** The goal including what people's feedback asked for; equal to `goal` while there is none. */
  prompt: string;
  input: Json;
  loop_id: string;
  /** The reason for this pass and what the review of the previous one missed; null in the first pass. */
  rerun: RerunReason | null;
  turn: number;
  attempt: number;
  /** The latest steps of this loop, oldest first; for a model only those that its transcript does not include yet. */
  steps: PlannerStep[];
  /** The id of the index of the model's conversation so far. The messages themselves are in the store. */
  transcript: string | null;
  /** The id of the previous attempt's answer, if it could not be used. */
  repair: string | null;
  /** True when no tool call can follow: this turn's answer becomes the result of the run. */
  last_turn: boolean;
  left: { turns: number; tokens: number; cost_micro_usd: number | null };
  guidance: Guidance;
  /** The last failure, for the prompt of a retry. */
  retry_context: RetryContext | null;
  /** Feedback that people sent during the run, oldest first. */
  feedback: string[];
  /** How much of the run's time this turn may take. */
  timeout_ms: number;
}
export interface RerunReason {
  of: string;
  reason: string;
  missed: string[];
  /** Side effects that have already happened. The same call again is answered with its earlier output. */
  done?: string[];
  /** Side effects that may have happened. The same call again does not run. */
  unknown?: string[];
}
export interface PlannerStep {
  step_id: number;
  /** The id that a model gave its call. */
  call_id?: string;
  tool: string;
  input: Json;
  status: 'ok' | 'failed' | 'skipped' | 'denied' | 'timed_out' | 'policy' | 'cancelled' | 'guided' | 'unknown';
  output?: Json;
  artifact_id?: string;
  error_code?: string;
  message_preview?: string;
  /** What is known of a call that a person confirmed or that did not run, and what the person wrote. */
  known?: string;
  /** The feedback type that was detected in its output, such as `verification_failure`. */
  detected?: string;
  /** Set if a person changed the input before the call ran. `input` is the changed one. */
  edited?: EditedInput;
}

export interface ChosenCall {
  tool: string;
  input: Json;
  phase?: string;
  call_id?: string;
  /** From the tool's own `loopKey`; the worker adds it. */
  loop_key?: string;
}
/**
 * The planner's choice. An empty batch ends the loop with `output` as its result, unless `more` asks for another turn.
 */
export interface PlannerChoice {
  class: 'ok';
  calls: ChosenCall[];
  message?: string;
  output?: Json;
  /** True when the planner calls no tool and is not done: it has only sent a message. */
  more?: boolean;
  /** The id of the conversation's index after this turn. */
  transcript?: string;
  tokens: number;
  cost_micro_usd: number;
  /** The number of model calls in this turn; 1 when absent. */
  model_calls?: number;
  duration_ms: number;
}
export type PlannerOutcome = PlannerChoice | CallFailed | CallCancelled;

/** The input of an agent's own reviewer. */
export interface ReviewView {
  run_id: string;
  agent: string;
  goal: string;
  loop_id: string;
  steps: ReviewedStep[];
  output: Json;
  /** The scores of the rules reviewer. Alignment is the share of steps that succeeded. */
  by_rules: { alignment_score: number; drift_score: number; summary_valid: boolean };
  /** A failure that the model's own answer reports, such as "2 tests failed". It is a hint and not a verdict. */
  detected: DetectedFeedback | null;
  /** The budget that a reviewer may use if it calls a model. */
  left: { model_calls: number; tokens: number; cost_micro_usd: number | null };
  timeout_ms: number;
}
export interface ReviewedStep {
  step_id: number;
  tool: string;
  status: PlannerStep['status'];
  artifact_id: string | null;
  /** Input and output, shortened when they are long. Absent for steps that are too far back. */
  input?: Json;
  output?: Json;
  error_code?: string;
  message_preview?: string;
}
/** The usage of a review that called a model. */
export interface ReviewUse {
  tokens?: number;
  cost_micro_usd?: number;
  model_calls?: number;
}
export type Reviewed = { class: 'ok'; review: ReviewReport } & ReviewUse;
export type ReviewOutcome = Reviewed | CallFailed | CallCancelled;

/** One line for the log. Event names are stable and fields are small. */
export interface RunLogEvent {
  event: string;
  [field: string]: Json;
}

/** The part of a run that lists and dashboards show without querying the run. */
export interface PublishedState {
  state: RunLifeState;
  outcome?: RunOutcome;
  attempts: number;
  question: PendingQuestion | null;
  /** The decision about the pass that has just been reviewed, when another pass follows. */
  decided?: Json;
}

/**
 * The only way from a run to the outside. Ports return outcomes as values: they never throw for a failure of a tool, a
 * model or a person. Anything thrown is a bug and is not caught.
 */
export interface RunPorts {
  now(): number;
  /** Waits until the condition holds (true) or the time has passed (false). The only way to wait. */
  until(condition: () => boolean, ms: number, why: string): Promise<boolean>;
  call(request: ToolCallRequest): Promise<CallOutcome>;
  reconcile(request: ToolCallRequest): Promise<ReconcileOutcome>;
  /** Checks an output that a person gave for a call of this tool, and stores it if it is large. */
  checkOutput(request: OutputToCheck): Promise<CheckedOutput>;
  /** Runs another agent from start to end. */
  subRun(request: SubRunRequest): Promise<SubRunOutcome>;
  callModel(view: PlannerView): Promise<PlannerOutcome>;
  review(view: ReviewView): Promise<ReviewOutcome>;
  /** Returns lessons about a failure. Returns none when the memory is slow or not available. */
  recall(query: RecallQuery): Promise<RunLesson[]>;
  /** Notifies people that a question is open. The run does not wait for the notification. */
  notify(notice: QuestionNotice): void;
  record(batch: RecordBatch): Promise<SaveOutcome>;
  archive(archive: RunArchive): Promise<SaveOutcome>;
  /** Hands over an archive that the store did not take. It is written once the store is back, after the run has ended. */
  archiveLater(archive: RunArchive): Promise<void>;
  publish(change: PublishedState): void;
  log(event: RunLogEvent): void;
  shouldHandOver(): boolean;
}
