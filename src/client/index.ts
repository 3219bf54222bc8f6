import type { Client } from '@temporalio/client';
import type { MessageAnswer } from '../core/run/index.ts';
import type { Registry } from '../define/registry.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import { TASK_QUEUE } from '../protocol/names.ts';
import type { RunResult, RunStatus } from '../protocol/run.ts';
import type { StartMemoryStore } from '../store/start-memory.ts';
import { cancelRun } from './cancel-run.ts';
import {
  fetchHistory,
  projectHistory,
  watchRun,
  type ProjectedStep,
  type RunEvent,
  type WatchOptions,
} from './history/index.ts';
import { sendMessage } from './messages.ts';
import { type RunArchiveReader, runStatus } from './run-status.ts';
import { type StartedRun, type StartOptions, startRun } from './start-run.ts';
import { endOfRun } from './run-result.ts';

export { connectClient } from './connect.ts';
export * from './errors.ts';
export * from './guards/index.ts';
export type { ProjectedStep, RunEvent } from './history/index.ts';
export type { StartedRun, StartOptions } from './start-run.ts';

export interface RunsClientOptions {
  client: Client;
  registry: Registry;
  /** Where endings are looked up once Temporal has forgotten them, and what earlier runs learnt. */
  store?: { archivedRuns: RunArchiveReader } & Partial<StartMemoryStore>;
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
  /** Waits for the end. */
  result(runId: string): Promise<RunResult>;
  answer(runId: string, body: unknown): Promise<MessageAnswer>;
  override(runId: string, body: unknown): Promise<MessageAnswer>;
  feedback(runId: string, body: unknown): Promise<MessageAnswer>;
  cancel(runId: string, body: unknown): Promise<MessageAnswer>;
  /** What has happened so far, oldest first. */
  events(runId: string): Promise<RunEvent[]>;
  steps(runId: string): Promise<ProjectedStep[]>;
  /** What happens, as it happens; ends with the run. */
  watch(runId: string, options?: WatchOptions): AsyncIterable<RunEvent>;
  workflowId(runId: string): string;
}

export function createRunsClient(options: RunsClientOptions): RunsClient {
  const { client, store } = options;
  const deps = {
    client,
    registry: options.registry,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    searchAttributes: options.searchAttributes ?? true,
    ...(store !== undefined && { memory: store }),
    ...(options.onMemoryFailure !== undefined && { onMemoryFailure: options.onMemoryFailure }),
  };
  return {
    start: (request, startOptions) => startRun(deps, request, startOptions),
    status: (runId) => runStatus(client, runId, store?.archivedRuns),
    result: (runId) => endOfRun(client, runId, store?.archivedRuns),
    answer: (runId, body) => sendMessage(client, runId, 'answer', body),
    override: (runId, body) => sendMessage(client, runId, 'override', body),
    feedback: (runId, body) => sendMessage(client, runId, 'feedback', body),
    cancel: (runId, body) => cancelRun(client, runId, body),
    events: async (runId) => projectHistory(await fetchHistory(client, runId), { runId }).events,
    steps: async (runId) => projectHistory(await fetchHistory(client, runId), { runId }).steps,
    watch: (runId, watchOptions) => watchRun(client, runId, watchOptions),
    workflowId: workflowIdOfRun,
  };
}
