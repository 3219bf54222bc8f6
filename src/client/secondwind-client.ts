import type { GuardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../core/guardrails/loop-answer.ts';
import type { LoopReport } from '../core/guardrails/loop-report.ts';
import type { OverrideEntry } from '../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../core/guardrails/loop-trace.ts';
import type { Agent } from '../define/define-agent.ts';
import type { MessageBody } from '../protocol/messages.ts';
import type { RunRequest, RunStatus } from '../protocol/run.ts';
import type { RunEvent } from './history/run-event.ts';
import type {
  AnswerTaken,
  FailureItem,
  FeedbackTaken,
  OverrideAnswer,
  ProjectedStep,
  QuestionPage,
  RunEnd,
  RunFilter,
  RunPage,
  ShownGuidance,
  StartedRun,
  StoppedRun,
} from './views.ts';

export interface CallOptions {
  /** Gives up waiting, with the signal's reason. What was already sent may still happen. */
  signal?: AbortSignal;
}
export interface KeyedOptions extends CallOptions {
  /** The same key with the same request is one request, however often it is sent; with another request it is refused. */
  idempotencyKey?: string;
}
export interface CancelOptions extends CallOptions {
  /** How long to wait for the work to stop. Default and maximum: 30 s. */
  waitMs?: number;
}
export interface FollowOptions {
  /** Ends the watch at once, without an error. */
  signal?: AbortSignal;
  /** The id of the last event that was seen; the watch goes on with the next. */
  afterId?: string;
}

/** The agent whose run it was: its schema types the output. */
export interface TypedOptions<Output> extends CallOptions {
  agent: Agent<Output>;
}

/** The longest that `cancel` waits, on both ways. */
export const CANCEL_WAIT_MS = 30_000;

/** What people and programs do with runs. Every error is a `SecondwindError`. */
export interface Runs {
  /**
   * Starts a run. Throws `RunRequestError` when the request cannot become a run, `RunExistsError` when its `run_id` is taken,
   * `FamilyTakenError` when its `loop_id` is, and `IdempotencyConflictError` when the key was used with another request.
   */
  start(request: RunRequest, options?: KeyedOptions): Promise<StartedRun>;
  get(runId: string, options?: CallOptions): Promise<RunStatus>;
  /** One page of runs: open ones first, then those that ended last. */
  list(filter?: RunFilter, options?: CallOptions): Promise<RunPage>;
  /** What happens, as it happens, without a gap; ends with the run. */
  watch(runId: string, options?: FollowOptions): AsyncIterable<RunEvent>;
  /** Waits for the end. With the agent at hand, the output is checked against its schema and has its type. */
  result(runId: string, options?: CallOptions): Promise<RunEnd>;
  result<Output>(runId: string, options: TypedOptions<Output>): Promise<RunEnd<Output>>;
  override(runId: string, body: MessageBody<'override'>, options?: CallOptions): Promise<OverrideAnswer>;
  /** Answers a question. An answer that comes too late is `accepted: false`, not an error. */
  answer(runId: string, body: MessageBody<'answer'>, options?: CallOptions): Promise<AnswerTaken>;
  feedback(runId: string, body: MessageBody<'feedback'>, options?: CallOptions): Promise<FeedbackTaken>;
  /** Cancels a run and waits until its work has stopped; after `waitMs` it says what it still waits for. */
  cancel(runId: string, body: MessageBody<'cancel_run'>, options?: CancelOptions): Promise<StoppedRun>;
  /** Starts a new run of the same agent, goal, input, plan, policy and labels. */
  rerun(runId: string, body: MessageBody<'cancel_run'>, options?: KeyedOptions): Promise<StartedRun>;
  /** The open questions of all runs. */
  questions(page?: { cursor?: string; limit?: number }, options?: CallOptions): Promise<QuestionPage>;
  steps(runId: string, options?: CallOptions): Promise<ProjectedStep[]>;
  /** Every record, oldest first, with the current status of its fingerprint. */
  failures(runId: string, options?: CallOptions): Promise<FailureItem[]>;
  /** The passes, oldest first, and why each was run again or was the last. */
  trace(runId: string, options?: CallOptions): Promise<ReasonedTraceItem[]>;
  overrides(runId: string, options?: CallOptions): Promise<OverrideEntry[]>;
  /** The guidance that an attempt was shown; of the latest attempt that was shown any, unless one is named. */
  guidance(runId: string, at: { stepId: number; attempt?: number }, options?: CallOptions): Promise<ShownGuidance>;
}

/**
 * The guardrails of loops. A loop that runs elsewhere is only reported here and decided upon by a guard; a loop of one of
 * our runs is decided by the run itself, and a report of it asks for that decision. Throws `GuardRefusedError` when the
 * guard did not act upon a message.
 */
export interface Guards {
  /** Reports a finished loop and returns whether it is run again. The same report gets the same answer. */
  completeLoop(report: LoopReport, options?: CallOptions): Promise<LoopAnswer>;
  status(loopId: string, options?: CallOptions): Promise<GuardrailsStatus>;
  /** Lets one more loop start where a guard would end the family. */
  override(loopId: string, body: MessageBody<'override'>, options?: KeyedOptions): Promise<OverrideAnswer>;
}

/** The typed client: the same calls, types and errors over HTTP and over Temporal. */
export interface SecondwindClient {
  runs: Runs;
  guards: Guards;
}
