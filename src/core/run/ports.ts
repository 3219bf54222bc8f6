import type { Json } from '../../protocol/json.ts';
import type { ReviewReport } from '../guardrails/loop-report.ts';
import type { RecallQuery, RunLesson } from '../../protocol/lessons.ts';
import type { QuestionNotice } from '../../protocol/notices.ts';
import type { RecordBatch, RunArchive, SaveOutcome } from '../../protocol/records.ts';
import type { PendingQuestion, RunLifeState, RunOutcome } from '../../protocol/run.ts';
import type { SubRunOutcome, SubRunRequest } from '../../protocol/sub-runs.ts';
import type {
  CallCancelled,
  CallFailed,
  CallOutcome,
  DetectedFeedback,
  Guidance,
  RetryContext,
  ReconcileOutcome,
  ToolCallRequest,
} from '../../protocol/tools.ts';

/** What a planner that chooses gets to see before it decides. */
export interface PlannerView {
  run_id: string;
  agent: string;
  goal: string;
  /** The goal with what people's feedback asked for; the goal itself while there is none. */
  prompt: string;
  input: Json;
  loop_id: string;
  /** Why there is another pass, and what the review of the one before missed; null in the first. */
  rerun: RerunReason | null;
  turn: number;
  attempt: number;
  /** The latest steps of this loop, oldest first; for a model those that its transcript does not hold yet. */
  steps: PlannerStep[];
  /** The conversation of a model so far, by the id of its index: the messages themselves never travel. */
  transcript: string | null;
  /** What a model said that could not be used, by id: the attempt before this one. */
  repair: string | null;
  /** No call can follow any more: what is said now is what the run hands back. */
  last_turn: boolean;
  left: { turns: number; tokens: number; cost_micro_usd: number | null };
  guidance: Guidance;
  /** Why this turn is a retry, for a prompt that says what was missed. */
  retry_context: RetryContext | null;
  /** What people said during the run, oldest first. */
  feedback: string[];
  /** What is left for this turn of the run's time. */
  timeout_ms: number;
}
export interface RerunReason {
  of: string;
  reason: string;
  missed: string[];
  /** Side effects that are done: the same call again is answered with what it gave. */
  done?: string[];
}
export interface PlannerStep {
  step_id: number;
  /** The name that a model gave its call. */
  call_id?: string;
  tool: string;
  input: Json;
  status: 'ok' | 'failed' | 'skipped' | 'denied' | 'timed_out' | 'policy' | 'cancelled' | 'guided';
  output?: Json;
  artifact_id?: string;
  error_code?: string;
  message_preview?: string;
  /** What the feedback detector found in its output, such as `verification_failure`. */
  detected?: string;
}

export interface ChosenCall {
  tool: string;
  input: Json;
  phase?: string;
  call_id?: string;
  /** From the tool's own `loopKey`; the worker adds it. */
  loop_key?: string;
}
/** An empty batch ends the loop, unless `more` asks for another turn; `output` is then its result. */
export interface PlannerChoice {
  class: 'ok';
  calls: ChosenCall[];
  message?: string;
  output?: Json;
  /** Nothing to call yet, and not done: it has only said something. */
  more?: boolean;
  /** The conversation after this turn. */
  transcript?: string;
  tokens: number;
  cost_micro_usd: number;
  /** How often a model was asked in this turn, where that is not once. */
  model_calls?: number;
  duration_ms: number;
}
export type PlannerOutcome = PlannerChoice | CallFailed | CallCancelled;

/** What a reviewer of one's own gets to judge. */
export interface ReviewView {
  run_id: string;
  agent: string;
  goal: string;
  loop_id: string;
  steps: ReviewedStep[];
  output: Json;
  /** What the rules say: alignment as the share of steps that succeeded. */
  by_rules: { alignment_score: number; drift_score: number; summary_valid: boolean };
  /** A failure that a model's own answer reports, such as "2 tests failed": worth a look, and no verdict. */
  detected: DetectedFeedback | null;
  /** What a reviewer that asks a model may use. */
  left: { model_calls: number; tokens: number; cost_micro_usd: number | null };
  timeout_ms: number;
}
export interface ReviewedStep {
  step_id: number;
  tool: string;
  status: PlannerStep['status'];
  artifact_id: string | null;
  /** What it was called with and what came of it, each cut where it is long; none of it for steps too far back. */
  input?: Json;
  output?: Json;
  error_code?: string;
  message_preview?: string;
}
/** What a review used, where it asked a model. */
export interface ReviewUse {
  tokens?: number;
  cost_micro_usd?: number;
  model_calls?: number;
}
export type Reviewed = { class: 'ok'; review: ReviewReport } & ReviewUse;
export type ReviewOutcome = Reviewed | CallFailed | CallCancelled;

/** Something worth a line in the log; the name is stable, the fields are small. */
export interface RunLogEvent {
  event: string;
  [field: string]: Json;
}

/** What the outside may show of a run without asking it. */
export interface PublishedState {
  state: RunLifeState;
  outcome?: RunOutcome;
  attempts: number;
  question: PendingQuestion | null;
  /** What was decided about the pass that has just been judged, when another follows. */
  decided?: Json;
}

/**
 * Everything that comes from outside comes through here. Ports return outcomes as values and never throw for
 * something a tool, a model or a human did; anything thrown is a bug and is not caught.
 */
export interface RunPorts {
  now(): number;
  /** Waits until the condition holds (true) or the time has passed (false). The only way to wait. */
  until(condition: () => boolean, ms: number, why: string): Promise<boolean>;
  call(request: ToolCallRequest): Promise<CallOutcome>;
  reconcile(request: ToolCallRequest): Promise<ReconcileOutcome>;
  /** Another agent's run, from its start to its end. */
  subRun(request: SubRunRequest): Promise<SubRunOutcome>;
  callModel(view: PlannerView): Promise<PlannerOutcome>;
  review(view: ReviewView): Promise<ReviewOutcome>;
  /** Lessons about a failure, or none: a memory that is away or slow counts as not having seen it. */
  recall(query: RecallQuery): Promise<RunLesson[]>;
  /** Tells people elsewhere that a question is open; nobody waits for it. */
  notify(notice: QuestionNotice): void;
  record(batch: RecordBatch): Promise<SaveOutcome>;
  archive(archive: RunArchive): Promise<SaveOutcome>;
  publish(change: PublishedState): void;
  log(event: RunLogEvent): void;
  shouldHandOver(): boolean;
}
