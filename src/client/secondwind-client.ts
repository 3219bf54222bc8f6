import type { OverrideEntry } from '../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../core/guardrails/loop-trace.ts';
import type { Agent } from '../define/define-agent.ts';
import type { AnswerMessage, CancelMessage, FeedbackMessage, OverrideMessage } from '../protocol/messages.ts';
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
  /** The same key with the same request gives the same run; with another request it is refused. */
  idempotencyKey?: string;
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

type Body<M extends { type: string }> = Omit<M, 'type'>;

/** What people and programs do with runs, the same over HTTP and over Temporal. Every error is a SecondwindError. */
export interface Runs {
  start(request: RunRequest, options?: KeyedOptions): Promise<StartedRun>;
  get(runId: string, options?: CallOptions): Promise<RunStatus>;
  list(filter?: RunFilter, options?: CallOptions): Promise<RunPage>;
  /** What happens, as it happens, without a gap; ends with the run. */
  watch(runId: string, options?: FollowOptions): AsyncIterable<RunEvent>;
  /** Waits for the end. With the agent at hand, the output is checked against its schema and has its type. */
  result(runId: string, options?: CallOptions): Promise<RunEnd>;
  result<Output>(runId: string, options: TypedOptions<Output>): Promise<RunEnd<Output>>;
  override(runId: string, body: Body<OverrideMessage>, options?: CallOptions): Promise<OverrideAnswer>;
  answer(runId: string, body: Body<AnswerMessage>, options?: CallOptions): Promise<AnswerTaken>;
  feedback(runId: string, body: Body<FeedbackMessage>, options?: CallOptions): Promise<FeedbackTaken>;
  /** Waits until the work has really stopped; after 30 s it says what it still waits for. */
  cancel(runId: string, body: Body<CancelMessage>, options?: CallOptions): Promise<StoppedRun>;
  /** A new run of the same: agent, goal, input, plan, policy and labels. */
  rerun(runId: string, body: Body<CancelMessage>, options?: KeyedOptions): Promise<StartedRun>;
  /** What waits for a person. */
  questions(page?: { cursor?: string; limit?: number }, options?: CallOptions): Promise<QuestionPage>;
  steps(runId: string, options?: CallOptions): Promise<ProjectedStep[]>;
  /** Every record, oldest first, with how its fingerprint stands. */
  failures(runId: string, options?: CallOptions): Promise<FailureItem[]>;
  trace(runId: string, options?: CallOptions): Promise<ReasonedTraceItem[]>;
  overrides(runId: string, options?: CallOptions): Promise<OverrideEntry[]>;
  /** What an attempt was shown; the latest unless one is named. */
  guidance(runId: string, at: { stepId: number; attempt?: number }, options?: CallOptions): Promise<ShownGuidance>;
}
