import { defined } from '../../protocol/json.ts';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import { RunNotFoundError } from '../../protocol/errors.ts';
import { isNotFound, isTooLarge } from '../temporal/grpc-errors.ts';
import { decodeAnswer } from '../decode-answer.ts';
import type { Attributes, HistoryEvent } from './history-event.ts';

export interface ReadOptions {
  /** True to wait for further events until the run has ended. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** Reads the history of a run over its whole continue-as-new chain, page by page, oldest first. */
export async function* readHistory(
  client: Client,
  runId: string,
  { follow = false, signal }: ReadOptions = {},
): AsyncGenerator<HistoryEvent[], void, undefined> {
  const chain = await listExecutions(client, runId, signal);
  // The loop also covers executions that are added while the chain is read.
  for (const execution of chain) {
    let last: HistoryEvent | undefined;
    let token: Uint8Array | undefined;
    do {
      const page: Page = await historyPage(client, runId, { execution, token, follow, signal });
      last = page.events.at(-1) ?? last;
      token = page.token;
      if (page.events.length > 0) yield page.events;
    } while (token !== undefined);
    const next = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    if (next && execution === chain.at(-1)) chain.push(next);
  }
}

/** Reads all history events of a run so far. */
export async function fetchHistory(client: Client, runId: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  for await (const page of readHistory(client, runId)) events.push(...page);
  return events;
}

/**
 * Finds the executions of a run so far, oldest first, by going back from the latest. This also works for a workflow that was reset,
 * and for one whose oldest executions were deleted.
 */
async function listExecutions(client: Client, runId: string, signal?: AbortSignal): Promise<string[]> {
  const chain: string[] = [];
  let execution: string | null = await latestExecution(client, runId, signal);
  while (execution !== null) {
    const started = await readStart(client, runId, execution, signal);
    if (started === null) break;
    chain.unshift(execution);
    execution = started.continuedExecutionRunId || null;
  }
  if (chain.length === 0) throw new RunNotFoundError(runId);
  return chain;
}

async function latestExecution(client: Client, runId: string, signal?: AbortSignal): Promise<string> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return (await abortable(client, signal, () => handle.describe())).runId;
  } catch (error) {
    throw error instanceof WorkflowNotFoundError ? new RunNotFoundError(runId, error) : error;
  }
}

async function readStart(
  client: Client,
  runId: string,
  execution: string,
  signal: AbortSignal | undefined,
): Promise<Attributes<'workflowExecutionStartedEventAttributes'> | null> {
  try {
    const { events } = await historyPage(client, runId, { execution, pageSize: 1, follow: false, signal });
    return events[0]?.workflowExecutionStartedEventAttributes ?? null;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Each page is a round trip, so a long history is read in large pages. */
const PAGE_SIZE = 1_000;
/** Events may have tens of kilobytes each, and a server may answer with at most 4 MB. Such a page is read in smaller ones. */
const SMALL_PAGE_SIZE = 50;

interface Page {
  events: HistoryEvent[];
  /** Undefined if this execution has no more pages. */
  token?: Uint8Array | undefined;
}

async function historyPage(
  client: Client,
  runId: string,
  ask: {
    execution: string;
    token?: Uint8Array | undefined;
    pageSize?: number;
    follow: boolean;
    signal: AbortSignal | undefined;
  },
): Promise<Page> {
  const { execution, token, follow, signal } = ask;
  const read = (maximumPageSize: number) =>
    abortable(client, signal, () =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId: workflowIdOfRun(runId), runId: execution },
        maximumPageSize,
        ...defined({ nextPageToken: token }),
        waitNewEvent: follow,
        skipArchival: follow,
      }),
    );
  const answer = await read(ask.pageSize ?? PAGE_SIZE).catch((error: unknown) => {
    if (!isTooLarge(error)) throw error;
    return read(SMALL_PAGE_SIZE);
  });
  const more = answer.nextPageToken;
  const events = await decodeAnswer(client, answer.history?.events ?? []);
  return { events, token: more && more.length > 0 ? more : undefined };
}

/**
 * Gives each call its own signal. The SDK adds a listener to the signal with every call and never removes it, which would leak memory
 * in a watch that lasts for days.
 */
async function abortable<T>(client: Client, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  if (signal === undefined) return call();
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await client.withAbortSignal(own.signal, call);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
