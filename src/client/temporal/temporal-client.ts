import { findRegistrySecrets } from '../../define/registry-secrets.ts';
import type { Client } from '@temporalio/client';
import { previewQuestion } from '../../core/redaction/preview-question.ts';
import { createRedactor, type Redact, secretsOf } from '../../core/redaction/redact.ts';
import type { GuardPolicy } from '../../core/guardrails/guard-state.ts';
import type { Registry } from '../../define/registry.ts';
import { RunEndedError } from '../../protocol/errors.ts';
import type { MessageBody } from '../../protocol/messages.ts';
import { TASK_QUEUE } from '../../protocol/names.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { Store } from '../../store/store.ts';
import type { AgentRunOptions } from '../../workflows/agent-run-input.ts';
import type { RunEvent } from '../history/run-event.ts';
import { createRunFeed, type RunFeed } from '../history/watch-all.ts';
import { watchRun } from '../history/watch-run.ts';
import { withDeltas } from '../history/with-deltas.ts';
import {
  CANCEL_WAIT_MS,
  type CallOptions,
  type FollowOptions,
  type Runs,
  type SecondwindClient,
  type TypedOptions,
} from '../secondwind-client.ts';
import { typedResult } from '../typed-result.ts';
import type { AnswerTaken, GivenRequest, RunEnd } from '../views.ts';
import { toSecondwindError } from './grpc-errors.ts';
import { listRuns, openQuestions } from './list-runs.ts';
import { previewAnswer, previewEvent, previewEvents, previewRuns, previewStatus } from './preview-questions.ts';
import { readGivenRequest } from './given-request.ts';
import { readRequest, readUnknownEffects } from './rerun.ts';
import { runFailures } from './run-failures.ts';
import { cancelRun, sendMessage, signalSuperseded } from './run-messages.ts';
import { runStatus } from './run-status.ts';
import { isKnownRun, runEvents, runningAttempts, runResult, runSteps, runTrace, shownGuidance } from './run-views.ts';
import { runPrompts } from './run-prompts.ts';
import { runTranscript } from './run-transcript.ts';
import { startRun } from './start-run.ts';
import { createStatusReader } from './status-reader.ts';
import {
  completeLoop,
  DECISION_DEADLINE_MS,
  guardStatus,
  guardTrace,
  overrideLoop,
  type TemporalGuards,
} from './temporal-guards.ts';
import { guardPolicy, setGuardPolicy } from './guard-policy.ts';
import { countRuns, IS_OPEN, visibleRuns } from './visibility.ts';

/** Options of `createClient` over Temporal. */
export interface TemporalOptions {
  /** A connected client of `@temporalio/client` with the data converter of Secondwind, as `connectClient` returns it. */
  temporal: Client;
  registry: Registry;
  /** The store: what earlier runs learnt, reserved ids, and ended runs that Temporal has deleted. */
  store?: Store;
  /** Called with the reason if a run starts without what earlier runs learnt. */
  onMemoryFailure?: (reason: string) => void;
  /** Redacts what people read of steps, transcripts and questions. Default: known patterns, and the secrets in this process's environment. */
  redact?: Redact;
  taskQueue?: string;
  /** False if the Temporal server does not have the search attributes of Secondwind. */
  searchAttributes?: boolean;
  /** Options for the workflows of the runs that this client starts. */
  workflow?: AgentRunOptions;
  guards?: {
    /** The policy of new families. An open family keeps its own. */
    policy?: GuardPolicy;
    /** How long a call waits for the decision of a guard or of a run. Default: 30 s. */
    deadlineMs?: number;
  };
}

/** The client over Temporal and the store. */
export interface TemporalClient extends SecondwindClient {
  guards: TemporalGuards;
  inspector: RunsInspector;
}

/** What the HTTP API needs in addition to `Runs`. It is not available over HTTP. */
export interface RunsInspector {
  /** Whether Temporal or the archive has the run. */
  exists(runId: string): Promise<boolean>;
  /** Returns the events of a run so far, oldest first. */
  events(runId: string): Promise<RunEvent[]>;
  /** Reads what a run was started with, also when its history is gone. */
  request(runId: string): Promise<GivenRequest>;
  /** Tells an open run that a person superseded one of its failures. */
  supersede(runId: string, body: MessageBody<'supersede'>): Promise<void>;
  /** Counts the open runs and those that wait for a person (null if the server has no search attributes). */
  counts(): Promise<{ open: number; waiting_for_human: number | null }>;
  /** The events of all runs. */
  feed: RunFeed;
}

/** Creates the client over Temporal and the store. */
export function createTemporalClient(options: TemporalOptions): TemporalClient {
  const runs = runsOverTemporal(options);
  const inspector = createInspector(options);
  return { runs, guards: guardsOverTemporal(options, runs), inspector };
}

function guardsOverTemporal(
  { temporal: client, store, taskQueue = TASK_QUEUE, guards = {} }: TemporalOptions,
  runs: Runs,
): TemporalGuards {
  const { policy = DEFAULT_POLICY, deadlineMs = DECISION_DEADLINE_MS } = guards;
  const deps = { client, store, taskQueue, policy, deadlineMs, runs };
  return {
    completeLoop: (report, called) => call(called, () => completeLoop(deps, report, called?.bodyHash)),
    status: (loopId, called) => call(called, () => guardStatus(deps, loopId)),
    override: (loopId, body, called) => call(called, () => overrideLoop(deps, loopId, body, called?.idempotencyKey)),
    trace: (loopId, called) => call(called, () => guardTrace(deps, loopId)),
    policy: (loopId, called) => call(called, () => guardPolicy(deps, loopId)),
    setPolicy: (loopId, body, called) => call(called, () => setGuardPolicy(deps, loopId, body)),
  };
}

function runsOverTemporal(options: TemporalOptions): Runs {
  const { temporal: client, store, searchAttributes = true } = options;
  const starting = {
    client,
    registry: options.registry,
    store,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    searchAttributes,
    workflow: options.workflow ?? {},
    onMemoryFailure: options.onMemoryFailure,
  };
  const listing = { client, searchAttributes, store };
  const redact =
    options.redact ?? createRedactor([...secretsOf(process.env), ...findRegistrySecrets(options.registry)]);
  const readStatus = createStatusReader(async (runId) => previewStatus(await runStatus(client, store, runId), redact));
  return {
    start: (request, called = {}) => call(called, () => startRun(starting, request, called)),
    get: (runId, called) => call(called, () => readStatus(runId)),
    list: (filter = {}, called) => call(called, async () => previewRuns(await listRuns(listing, filter), redact)),
    watch: (runId: string, called: FollowOptions & { deltas?: true } = {}) => {
      const events = previewEvents(watchRun(client, runId, called), redact);
      const { deltas = false, signal } = called;
      // With deltas the second signature of `watch` holds, whose items are a union.
      return translated(deltas ? (withDeltas(events, store?.modelDeltas, { runId, signal }) as typeof events) : events);
    },
    result: <Output>(runId: string, called?: Partial<TypedOptions<Output>>): Promise<RunEnd<Output>> =>
      call(called, async () => typedResult(await runResult(client, store, runId), called?.agent)),
    override: (runId, body, called) => call(called, () => sendMessage(client, runId, 'override', body)),
    answer: (runId, body, called) =>
      call(called, async () => {
        try {
          return previewAnswer(await sendMessage<AnswerTaken>(client, runId, 'answer', body), redact);
        } catch (error) {
          if (!(error instanceof RunEndedError)) throw error;
          const { question_id } = body;
          return { accepted: false, question_id, state: 'ended', reason: 'the run has ended' };
        }
      }),
    feedback: (runId, body, called) => call(called, () => sendMessage(client, runId, 'feedback', body)),
    cancel: (runId, body, { waitMs = CANCEL_WAIT_MS, ...called } = {}) =>
      call(called, async () => {
        const hasStopped = await cancelRun(client, runId, body, Math.min(waitMs, CANCEL_WAIT_MS));
        return hasStopped
          ? { state: 'ended', status: await readStatus(runId) }
          : { state: 'stopping', waiting_for: await runningAttempts(client, runId) };
      }),
    rerun: (runId, _body, called = {}) =>
      call(called, async () => {
        const request = await readRequest(client, store, runId);
        return startRun(starting, request, called, await readUnknownEffects(client, store, runId));
      }),
    questions: (page = {}, called) =>
      call(called, async () => {
        const { questions, next_cursor } = await openQuestions(listing, page);
        return { questions: questions.map((question) => previewQuestion(question, redact)), next_cursor };
      }),
    steps: (runId, called) => call(called, () => runSteps(client, store, runId, redact)),
    transcript: (runId, page = {}, called) => call(called, () => runTranscript({ client, store, redact }, runId, page)),
    prompts: (runId, asked = {}, called) => call(called, () => runPrompts({ client, store, redact }, runId, asked)),
    failures: (runId, called) => call(called, () => runFailures(client, store, runId)),
    trace: (runId, called) => call(called, () => runTrace(client, store, runId)),
    overrides: (runId, called) =>
      call(called, async () => (await runTrace(client, store, runId)).flatMap((item) => item.overrides ?? [])),
    guidance: (runId, { stepId, attempt }, called) =>
      call(called, async () => shownGuidance(await runEvents(client, runId), stepId, attempt)),
  };
}

/** The most runs that the feed follows: those that started last. */
const MAX_FOLLOWED = 500;

function createInspector({
  temporal: client,
  store,
  searchAttributes = true,
  ...options
}: TemporalOptions): RunsInspector {
  const redact =
    options.redact ?? createRedactor([...secretsOf(process.env), ...findRegistrySecrets(options.registry)]);
  const events = (runId: string): Promise<RunEvent[]> =>
    call({}, async () => (await runEvents(client, runId)).map((event) => previewEvent(event, redact)));
  const activeSince = async (time: Date): Promise<string[]> => {
    const where = [`(${IS_OPEN} OR CloseTime >= '${time.toISOString()}')`];
    return (await visibleRuns(client, where, { size: MAX_FOLLOWED })).runs.map((run) => run.run_id);
  };
  return {
    exists: (runId) =>
      call({}, async () => (await isKnownRun(client, runId)) || Boolean(await store?.archivedRuns.get(runId))),
    events,
    request: (runId) => call({}, () => readGivenRequest(client, store, runId, redact)),
    supersede: (runId, body) => call({}, () => signalSuperseded(client, runId, body)),
    counts: () => call({}, () => countRuns(client, searchAttributes)),
    feed: createRunFeed({
      activeSince,
      watch: (runId, followed) => previewEvents(watchRun(client, runId, followed), redact),
      events,
    }),
  };
}

/** Converts errors to `SecondwindError` and lets the caller stop waiting. What was sent to Temporal still takes effect. */
async function call<T>({ signal }: CallOptions = {}, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const called = work().catch((error: unknown) => {
    throw toSecondwindError(error);
  });
  if (signal === undefined) return called;
  let giveUp = (): void => {};
  const givenUp = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([called, givenUp]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    called.catch(() => {});
  }
}

async function* translated(events: AsyncIterable<RunEvent>): AsyncGenerator<RunEvent> {
  try {
    yield* events;
  } catch (error) {
    throw toSecondwindError(error);
  }
}
