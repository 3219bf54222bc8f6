import type { Client } from '@temporalio/client';
import type { MessageAnswer } from '../core/run/messages.ts';
import type { Agent } from '../define/define-agent.ts';
import type { Registry } from '../define/registry.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import { TASK_QUEUE } from '../protocol/names.ts';
import type { RunResult, RunStatus } from '../protocol/run.ts';
import type { StartMemoryStore } from '../store/start-memory.ts';
import type { OverrideEntry } from '../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../core/guardrails/loop-trace.ts';
import { cancelRun } from './cancel-run.ts';
import { type FamilyStore, ownRunOf } from './families.ts';
import type { ProjectedStep } from './views.ts';
import type { RunEvent } from './history/run-event.ts';
import { createRunFeed, type RunFeed } from './history/watch-all.ts';
import { fetchHistory } from './history/read-history.ts';
import { projectHistory } from './history/project-history.ts';
import { watchRun, type WatchOptions } from './history/watch-run.ts';
import { sendMessage } from './messages.ts';
import { type RunArchiveReader, runStatus } from './run-status.ts';
import { listRuns, openQuestions, type RunArchiveLister } from './runs/list-runs.ts';
import { isKnown } from './runs/ask-run.ts';
import { requestOf } from './runs/rerun.ts';
import { type FailureStore, runFailures } from './runs/run-failures.ts';
import { guidanceOf } from './runs/run-guidance.ts';
import { runSteps } from './runs/run-steps.ts';
import { createStatusReader } from './runs/status-reader.ts';
import { overridesOf, runTrace, type TraceArchiveReader } from './runs/run-trace.ts';
import { endsWithin, underWay } from './runs/stop-run.ts';
import { countRuns, IS_OPEN, visibleRuns } from './runs/visibility.ts';
import type { StartKeyStore } from './start-key.ts';
import { type StartOptions, startRun } from './start-run.ts';
import { endOfRun } from './run-result.ts';
import { typedResult } from './typed-result.ts';
import type { AskedQuestion, FailureItem, RunFilter, RunPage, ShownGuidance, StartedRun, StoppedRun } from './views.ts';

export { connectClient } from './connect.ts';
export * from '../protocol/errors.ts';
export * from './guards/guards-client.ts';
export type { FeedEvent } from './history/watch-all.ts';
export type { RunEvent } from './history/run-event.ts';
export { compareEventIds } from './history/event-id.ts';
export { FamilyTakenError } from './families.ts';
export * from './own-loops.ts';
export type { StartOptions } from './start-run.ts';
export type * from './views.ts';

export interface RunsClientOptions {
  client: Client;
  registry: Registry;
  /** Where endings are looked up once Temporal has forgotten them, and what earlier runs learnt. */
  store?: {
    archivedRuns: RunArchiveReader & Partial<RunArchiveLister & TraceArchiveReader>;
  } & Partial<FailureStore & FamilyStore & StartKeyStore & StartMemoryStore>;
  /** Told when a run had to start without what earlier runs learnt, and why. */
  onMemoryFailure?: (reason: string) => void;
  taskQueue?: string;
  /** False where the server has none of our search attributes. */
  searchAttributes?: boolean;
}

/** What people do with runs. The only user of workflow handles. */
export interface RunsClient {
  start(request: unknown, options?: StartOptions): Promise<StartedRun>;
  status(runId: string): Promise<RunStatus>;
  /** Waits for the end. With the agent at hand, the output is checked against its schema and has its type. */
  result(runId: string): Promise<RunResult>;
  result<Output>(runId: string, agent: Agent<Output>): Promise<RunResult<Output>>;
  answer(runId: string, body: unknown): Promise<MessageAnswer>;
  override(runId: string, body: unknown): Promise<MessageAnswer>;
  feedback(runId: string, body: unknown): Promise<MessageAnswer>;
  cancel(runId: string, body: unknown): Promise<MessageAnswer>;
  /** Cancels, and waits for the work to stop; after `waitMs` it says what it still waits for. */
  stop(runId: string, body: unknown, waitMs: number): Promise<StoppedRun>;
  /** A new run of the same: agent, goal, input, plan, policy and labels. */
  rerun(runId: string, options?: StartOptions): Promise<StartedRun>;
  list(filter?: RunFilter): Promise<RunPage>;
  /** What waits for a person. */
  questions(page?: {
    cursor?: string;
    limit?: number;
  }): Promise<{ questions: AskedQuestion[]; next_cursor: string | null }>;
  /** Every record, oldest first, with how its fingerprint stands. */
  failures(runId: string): Promise<FailureItem[]>;
  trace(runId: string): Promise<ReasonedTraceItem[]>;
  overrides(runId: string): Promise<OverrideEntry[]>;
  /** What an attempt was shown; the latest unless one is named. */
  guidance(runId: string, stepId: number, attempt?: number): Promise<ShownGuidance>;
  /** The run whose loop this is; null when it is none of ours. */
  ownerOf(loopId: string): Promise<string | null>;
  /** How many runs are open, and how many of them wait for a person; null where nobody can tell. */
  counts(): Promise<{ open: number; waiting_for_human: number | null }>;
  /** Whether Temporal or the archive knows it. */
  exists(runId: string): Promise<boolean>;
  /** What has happened so far, oldest first. */
  events(runId: string): Promise<RunEvent[]>;
  steps(runId: string): Promise<ProjectedStep[]>;
  /** What happens, as it happens; ends with the run. */
  watch(runId: string, options?: WatchOptions): AsyncIterable<RunEvent>;
  /** What happens to all runs. */
  feed: RunFeed;
  workflowId(runId: string): string;
}

/** So many runs are followed by the feed; those that started last. */
const MAX_FOLLOWED = 500;

export function createRunsClient(options: RunsClientOptions): RunsClient {
  const { client, store } = options;
  const deps = {
    client,
    registry: options.registry,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    searchAttributes: options.searchAttributes ?? true,
    ...(store !== undefined && { memory: store }),
    ...(options.onMemoryFailure !== undefined && { onMemoryFailure: options.onMemoryFailure }),
    families: store?.loopFamilies && { loopFamilies: store.loopFamilies },
    keys: store?.startKeys && { startKeys: store.startKeys },
  };
  const { archivedRuns: archive, records, failureStatus } = store ?? {};
  const list = archive?.list?.bind(archive);
  const listing = { client, searchAttributes: deps.searchAttributes, archive: list && { list } };
  const traces = archive && { get: (runId: string) => archive.get(runId) as ReturnType<TraceArchiveReader['get']> };
  const eventsOf = async (runId: string): Promise<RunEvent[]> =>
    projectHistory(await fetchHistory(client, runId), { runId }).events;
  const stepsOf = async (runId: string): Promise<ProjectedStep[]> =>
    projectHistory(await fetchHistory(client, runId), { runId }).steps;
  const statusOf = createStatusReader((runId) => runStatus(client, runId, archive));
  const isArchived = async (runId: string): Promise<boolean> => Boolean(await archive?.get(runId));
  const feed = createRunFeed({
    activeSince: async (time) => {
      const where = [`(${IS_OPEN} OR CloseTime >= '${time.toISOString()}')`];
      return (await visibleRuns(client, where, { size: MAX_FOLLOWED })).runs.map((run) => run.run_id);
    },
    watch: (runId, watchOptions) => watchRun(client, runId, watchOptions),
    events: eventsOf,
  });
  return {
    feed,
    start: (request, startOptions) => startRun(deps, request, startOptions),
    status: statusOf,
    result: async <Output>(runId: string, agent?: Agent<Output>): Promise<RunResult<Output>> =>
      typedResult(await endOfRun(client, runId, store?.archivedRuns), agent),
    answer: (runId, body) => sendMessage(client, runId, 'answer', body),
    override: (runId, body) => sendMessage(client, runId, 'override', body),
    feedback: (runId, body) => sendMessage(client, runId, 'feedback', body),
    cancel: (runId, body) => cancelRun(client, runId, body),
    stop: async (runId, body, waitMs) => {
      await cancelRun(client, runId, body);
      const ended = await endsWithin(client, runId, waitMs);
      return ended
        ? { state: 'ended', status: await statusOf(runId) }
        : { state: 'stopping', waiting_for: underWay(await stepsOf(runId)) };
    },
    rerun: async (runId, startOptions) =>
      startRun(deps, await requestOf(client, runId, () => isArchived(runId)), startOptions),
    list: (filter = {}) => listRuns(listing, filter),
    questions: (page = {}) => openQuestions(listing, page),
    failures: (runId) => runFailures(client, runId, records && failureStatus && { records, failureStatus }),
    trace: (runId) => runTrace(client, runId, traces),
    overrides: async (runId) => overridesOf(await runTrace(client, runId, traces)),
    guidance: async (runId, stepId, attempt) => guidanceOf(await eventsOf(runId), stepId, attempt),
    ownerOf: (loopId) => ownRunOf(client, deps.families, loopId),
    exists: async (runId) => (await isKnown(client, runId)) || isArchived(runId),
    events: eventsOf,
    steps: (runId) => runSteps(runId, () => stepsOf(runId), archive),
    counts: () => countRuns(client, deps.searchAttributes),
    watch: (runId, watchOptions) => watchRun(client, runId, watchOptions),
    workflowId: workflowIdOfRun,
  };
}
