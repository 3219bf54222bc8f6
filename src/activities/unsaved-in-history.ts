import { activityInfo, getClient } from '@temporalio/activity';
import type { Payload } from '@temporalio/common';
import { isRecord } from '../protocol/json.ts';
import { ACTIVITY, toolOfActivity } from '../protocol/names.ts';
import type { Execution, RecordBatch, RunArchive, TextArtifact } from '../protocol/records.ts';
import { unpackOutput } from './carried-output.ts';

type Client = ReturnType<typeof getClient>;
type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** What a run could not save: the batches of writes that failed, and outputs that travelled in activity results. */
export interface UnsavedParts {
  batches: RecordBatch[];
  outputs: TextArtifact[];
}

/** Reads what a run has not saved yet from its history, by default that of the workflow that called this activity. */
export async function unsavedInHistory(run: Execution = ownExecution()): Promise<UnsavedParts> {
  const client = getClient();
  const parts = new Map<string, Unsaved>();
  for (const { runId, events } of await executionsOf(client, run)) {
    for (const event of events) await readEvent(parts, runId, event, (payload) => decode(client, payload));
  }
  const all = [...parts.values()].filter((part) => part.isOver);
  return {
    batches: all.flatMap(({ batch }) => batch ?? []),
    outputs: all.flatMap(({ output }) => output ?? []),
  };
}

/** Returns the text of an output that only the run's history has, or null. */
export async function outputInHistory(id: string): Promise<string | null> {
  const { outputs, batches } = await unsavedInHistory();
  const carried = outputs.find((output) => output.id === id);
  if (carried !== undefined) return carried.text;
  const held = batches.flatMap((batch) => batch.outputs).find((output) => output.id === id);
  return held === undefined ? null : JSON.stringify(held.output);
}

function ownExecution(): Execution {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) throw new TypeError('This activity was not called by a workflow.');
  return workflowExecution;
}

/** An activity of the run. */
interface Unsaved {
  /** It has ended, and what it was to save, or what it carried, is not in the store. */
  isOver: boolean;
  batch?: RecordBatch;
  output?: TextArtifact;
  /** Of a write: the earlier ones that it includes. */
  includes?: string[];
}

async function readEvent(
  parts: Map<string, Unsaved>,
  runId: string,
  event: HistoryEvent,
  read: (payload: Payload | null | undefined) => Promise<unknown>,
): Promise<void> {
  const {
    activityTaskScheduledEventAttributes: scheduled,
    activityTaskCompletedEventAttributes: completed,
    activityTaskFailedEventAttributes: failed,
    activityTaskTimedOutEventAttributes: timedOut,
  } = event;
  const keyOf = (eventId: unknown): string => `${runId} ${String(eventId)}`;
  if (scheduled) {
    const type = scheduled.activityType?.name ?? '';
    const key = keyOf(event.eventId);
    if (type === ACTIVITY.record || type === ACTIVITY.archive) {
      const batch = batchIn(await read(scheduled.input?.payloads?.[0]));
      const earlier = batch?.from_history === true ? [...parts].filter(([, { isOver }]) => isOver) : [];
      if (batch !== null) parts.set(key, { isOver: false, batch, includes: earlier.map(([other]) => other) });
    } else if (toolOfActivity(type) !== null || type === ACTIVITY.reconcile) {
      parts.set(key, { isOver: false });
    }
  } else if (completed) {
    const key = keyOf(completed.scheduledEventId);
    const part = parts.get(key);
    parts.delete(key);
    if (part?.batch === undefined) {
      const output = part === undefined ? null : unpackOutput(await read(completed.result?.payloads?.[0]));
      if (output !== null) parts.set(key, { isOver: true, output });
    } else for (const earlier of part.includes ?? []) parts.delete(earlier);
  } else if (failed ?? timedOut) {
    const key = keyOf((failed ?? timedOut)?.scheduledEventId);
    const part = parts.get(key);
    if (part?.batch === undefined) parts.delete(key);
    else part.isOver = true;
  }
}

function batchIn(input: unknown): RecordBatch | null {
  if (!isRecord(input)) return null;
  const batch = 'pending' in input ? (input as unknown as RunArchive).pending : (input as unknown as RecordBatch);
  return isRecord(batch) && Array.isArray(batch['records']) ? batch : null;
}

/** The executions of a run that was handed over, oldest first. */
async function executionsOf(client: Client, run: Execution): Promise<{ runId: string; events: HistoryEvent[] }[]> {
  const chain: { runId: string; events: HistoryEvent[] }[] = [];
  for (let runId: string | null | undefined = run.runId; runId;) {
    const { events } = await client.workflow.getHandle(run.workflowId, runId).fetchHistory();
    chain.unshift({ runId, events: events ?? [] });
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
  return chain;
}

/** Payloads in a history are as Temporal stores them, so the worker's own codecs have to read them. */
async function decode(client: Client, payload: Payload | null | undefined): Promise<unknown> {
  if (!payload) return undefined;
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  let payloads: Payload[] = [payload];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  const [decoded] = payloads;
  return decoded === undefined ? undefined : payloadConverter.fromPayload(decoded);
}
