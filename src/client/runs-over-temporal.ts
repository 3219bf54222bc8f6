import type { OverrideEntry } from '../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../core/guardrails/loop-trace.ts';
import type { RunResult, RunStatus } from '../protocol/run.ts';
import { NotReachableError, RunEndedError, SecondwindError } from '../protocol/errors.ts';
import type { RunEvent } from './history/run-event.ts';
import type { CallOptions, FollowOptions, Runs, TypedOptions } from './runs.ts';
import { typedResult } from './typed-result.ts';
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

/** What is used of `createRunsClient`, named here so that nothing of Temporal has to be loaded for it. */
export interface TemporalRuns {
  start(request: unknown, options?: { idempotencyKey?: string }): Promise<StartedRun>;
  status(runId: string): Promise<RunStatus>;
  result(runId: string): Promise<RunResult>;
  answer(runId: string, body: unknown): Promise<object>;
  override(runId: string, body: unknown): Promise<object>;
  feedback(runId: string, body: unknown): Promise<object>;
  stop(runId: string, body: unknown, waitMs: number): Promise<StoppedRun>;
  rerun(runId: string, options?: { idempotencyKey?: string }): Promise<StartedRun>;
  list(filter?: RunFilter): Promise<RunPage>;
  questions(page?: { cursor?: string; limit?: number }): Promise<QuestionPage>;
  failures(runId: string): Promise<FailureItem[]>;
  trace(runId: string): Promise<ReasonedTraceItem[]>;
  overrides(runId: string): Promise<OverrideEntry[]>;
  guidance(runId: string, stepId: number, attempt?: number): Promise<ShownGuidance>;
  steps(runId: string): Promise<ProjectedStep[]>;
  watch(runId: string, options?: FollowOptions): AsyncIterable<RunEvent>;
}

/** As long as the HTTP door waits, so that both ways answer alike. */
const STOP_MS = 30_000;

export function runsOverTemporal(runs: TemporalRuns): Runs {
  return {
    start: (request, options = {}) => unless(options, () => runs.start(request, keyOf(options))),
    get: (runId, options) => unless(options, () => runs.status(runId)),
    list: (filter, options) => unless(options, () => runs.list(filter)),
    watch: (runId, options) => told(runs.watch(runId, options)),
    result: <Output>(runId: string, options?: Partial<TypedOptions<Output>>): Promise<RunEnd<Output>> =>
      unless(options, async () => typedResult(endOf(await runs.result(runId)), options?.agent)),
    override: (runId, body, options) => unless(options, () => runs.override(runId, body) as Promise<OverrideAnswer>),
    answer: (runId, body, options) => unless(options, () => answer(runs, runId, body)),
    feedback: (runId, body, options) => unless(options, () => runs.feedback(runId, body) as Promise<FeedbackTaken>),
    cancel: (runId, body, options) => unless(options, () => runs.stop(runId, body, STOP_MS)),
    rerun: (runId, _body, options = {}) => unless(options, () => runs.rerun(runId, keyOf(options))),
    questions: (page, options) => unless(options, () => runs.questions(page)),
    steps: (runId, options) => unless(options, () => runs.steps(runId)),
    failures: (runId, options) => unless(options, () => runs.failures(runId)),
    trace: (runId, options) => unless(options, () => runs.trace(runId)),
    overrides: (runId, options) => unless(options, () => runs.overrides(runId)),
    guidance: (runId, { stepId, attempt }, options) => unless(options, () => runs.guidance(runId, stepId, attempt)),
  };
}

const keyOf = ({ idempotencyKey }: { idempotencyKey?: string }): { idempotencyKey?: string } =>
  idempotencyKey === undefined ? {} : { idempotencyKey };

/** Late is a fact to tell, not a mistake of whoever answers. */
async function answer(runs: TemporalRuns, runId: string, body: { question_id: string }): Promise<AnswerTaken> {
  try {
    return (await runs.answer(runId, body)) as AnswerTaken;
  } catch (error) {
    if (!(error instanceof RunEndedError)) throw error;
    return { accepted: false, question_id: body.question_id, state: 'ended', reason: 'the run has ended' };
  }
}

/** Without what only whoever keeps the store wants to know. */
const endOf = ({ unsaved: _unsaved, ...end }: RunResult): RunEnd => end;

/** Temporal's calls cannot be taken back; whoever gives up only stops waiting. */
async function unless<T>({ signal }: CallOptions = {}, call: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const called = call().catch((error: unknown) => {
    throw ours(error);
  });
  if (signal === undefined) return called;
  let giveUp = (): void => {};
  const given = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([called, given]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    called.catch(() => {});
  }
}

async function* told(events: AsyncIterable<RunEvent>): AsyncGenerator<RunEvent> {
  try {
    yield* events;
  } catch (error) {
    throw ours(error);
  }
}

/** gRPC's UNAVAILABLE and DEADLINE_EXCEEDED, wherever in the chain of causes. */
const NO_ANSWER = new Set<unknown>([14, 4]);

function ours(error: unknown): unknown {
  if (error instanceof SecondwindError) return error;
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ('code' in cause && NO_ANSWER.has(cause.code)) {
      return new NotReachableError('Temporal', 'See that it runs, and try again.', error);
    }
  }
  return error;
}
