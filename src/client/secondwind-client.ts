import type { GuardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../core/guardrails/loop-answer.ts';
import type { LoopReport } from '../core/guardrails/loop-report.ts';
import type { FamilyPolicy, PolicyMessage } from '../core/guardrails/guard-policy.ts';
import type { GuardTrace } from '../core/guardrails/loop-guard.ts';
import type { OverrideEntry } from '../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../core/guardrails/loop-trace.ts';
import type { Agent } from '../define/define-agent.ts';
import type { MessageBody } from '../protocol/messages.ts';
import type { RunRequest, RunStatus } from '../protocol/run.ts';
import type { ModelDelta } from '../protocol/model-delta.ts';
import type { RunEvent } from './history/run-event.ts';
import type {
  AnswerTaken,
  FailureItem,
  FeedbackTaken,
  OverrideAnswer,
  ProjectedStep,
  Prompt,
  QuestionPage,
  RunEnd,
  RunFilter,
  RunPage,
  ShownGuidance,
  StartedRun,
  StoppedRun,
  TranscriptPage,
} from './views.ts';

/** Options of every call. */
export interface CallOptions {
  /** Stops waiting; the call then throws the signal's reason. A request that was already sent may still take effect. */
  signal?: AbortSignal;
}
/** Options of calls that can be repeated safely. */
export interface KeyedOptions extends CallOptions {
  /** A request that is sent again with the same key has no second effect. The same key with another request is refused. */
  idempotencyKey?: string;
}
/** Options of `cancel`. */
export interface CancelOptions extends CallOptions {
  /** How long to wait for the work to stop. Default and maximum: 30 s. */
  waitMs?: number;
}
/** Options of `watch`. */
export interface FollowOptions {
  /** Ends the iteration, without an error. */
  signal?: AbortSignal;
  /** The id of the last event that you have; the first event is then the one after it. */
  afterId?: string;
}

/** Options of `result` that give the output a type. */
export interface TypedOptions<Output> extends CallOptions {
  agent: Agent<Output>;
}

/** The longest that `cancel` waits, over HTTP and over Temporal. */
export const CANCEL_WAIT_MS = 30_000;

/**
 * Starts, watches and steers runs. Every error is a `SecondwindError`; an unknown run id is a `RunNotFoundError`, a message to a run
 * that has ended a `RunEndedError`, a message that the run refuses a `MessageRefusedError`, and a server that does not answer a
 * `NotReachableError`.
 */
export interface Runs {
  /**
   * Starts a run and returns its id and its limit. Throws `RunRequestError` if the request is invalid, `RunExistsError` if its
   * `run_id` is taken, `FamilyTakenError` if its `loop_id` is taken, and `IdempotencyConflictError` if the key was used with another
   * request.
   */
  start(request: RunRequest, options?: KeyedOptions): Promise<StartedRun>;
  get(runId: string, options?: CallOptions): Promise<RunStatus>;
  /** Returns one page of runs: open runs first, then ended ones, the latest first. */
  list(filter?: RunFilter, options?: CallOptions): Promise<RunPage>;
  /** Yields the events of a run as they happen, without gaps, until the run has ended. */
  watch(runId: string, options?: FollowOptions): AsyncIterable<RunEvent>;
  /**
   * The same, and between them what the model produces while a turn is under way. Deltas are redacted and best effort, and they are not
   * final; they have no id.
   */
  watch(runId: string, options: FollowOptions & { deltas: true }): AsyncIterable<RunEvent | ModelDelta>;
  /** Waits until the run has ended and returns its result. With `agent`, the output is checked against its schema and typed. */
  result(runId: string, options?: CallOptions): Promise<RunEnd>;
  result<Output>(runId: string, options: TypedOptions<Output>): Promise<RunEnd<Output>>;
  override(runId: string, body: MessageBody<'override'>, options?: CallOptions): Promise<OverrideAnswer>;
  /** Answers an open question. Returns `accepted: false` if the answer comes too late. */
  answer(runId: string, body: MessageBody<'answer'>, options?: CallOptions): Promise<AnswerTaken>;
  feedback(runId: string, body: MessageBody<'feedback'>, options?: CallOptions): Promise<FeedbackTaken>;
  /** Cancels a run and waits until its work has stopped. After `waitMs` it returns the attempts that are still running. */
  cancel(runId: string, body: MessageBody<'cancel_run'>, options?: CancelOptions): Promise<StoppedRun>;
  /** Starts a new run with the same agent, goal, input, plan, policy and labels. */
  rerun(runId: string, body: MessageBody<'cancel_run'>, options?: KeyedOptions): Promise<StartedRun>;
  /** Returns one page of the open questions of all runs. */
  questions(page?: { cursor?: string; limit?: number }, options?: CallOptions): Promise<QuestionPage>;
  /** Lists the steps in order, with all attempts and with redacted previews of inputs and outputs. */
  steps(runId: string, options?: CallOptions): Promise<ProjectedStep[]>;
  /**
   * Reads one page of the conversation with the model as it was sent, redacted and oldest first. Throws `SecondwindError` with the code
   * `no_transcript` if the agent has no model.
   */
  transcript(runId: string, page?: { cursor?: string; limit?: number }, options?: CallOptions): Promise<TranscriptPage>;
  /**
   * Lists the requests to the model, oldest first. With `request`, returns only that one and the one before it, with all their messages as
   * they were sent, redacted. Throws `SecondwindError` with the code `no_transcript` if the agent has no model.
   */
  prompts(runId: string, asked?: { request?: number }, options?: CallOptions): Promise<Prompt[]>;
  /** Returns every failure record of a run, oldest first, with the current status of its fingerprint. */
  failures(runId: string, options?: CallOptions): Promise<FailureItem[]>;
  /** Returns the passes of a run, oldest first, with the reason why another pass followed or not. */
  trace(runId: string, options?: CallOptions): Promise<ReasonedTraceItem[]>;
  overrides(runId: string, options?: CallOptions): Promise<OverrideEntry[]>;
  /** Returns the guidance that an attempt was shown. Default: the latest attempt of the step that was shown any. */
  guidance(runId: string, at: { stepId: number; attempt?: number }, options?: CallOptions): Promise<ShownGuidance>;
}

/**
 * The guardrails of passes (`loop` in names). For a pass that runs elsewhere, a guard decides whether another may follow. For a pass
 * of a Secondwind run, the run itself decides, and a report returns that decision. Every call throws `GuardRefusedError` if the guard
 * refuses it.
 */
export interface Guards {
  /** Reports a finished pass and returns whether another may follow. The same report always gets the same answer. */
  completeLoop(report: LoopReport, options?: CallOptions): Promise<LoopAnswer>;
  status(loopId: string, options?: CallOptions): Promise<GuardrailsStatus>;
  /** Allows one more pass where the guard would end the family. */
  override(loopId: string, body: MessageBody<'override'>, options?: KeyedOptions): Promise<OverrideAnswer>;
  /** Returns the passes of a family, oldest first, with the reason of each decision, and its overrides. */
  trace(loopId: string, options?: CallOptions): Promise<GuardTrace>;
  /** Returns the policy of a family that runs elsewhere. */
  policy(loopId: string, options?: CallOptions): Promise<FamilyPolicy>;
  /** Sets the policy of a family before its first pass is reported, which fixes it. */
  setPolicy(loopId: string, body: PolicyMessage, options?: CallOptions): Promise<FamilyPolicy>;
}

/** The typed client: the same calls, types and errors over HTTP and over Temporal. */
export interface SecondwindClient {
  runs: Runs;
  guards: Guards;
}
