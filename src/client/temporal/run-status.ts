import { type Client, WorkflowNotFoundError, type WorkflowExecutionDescription } from '@temporalio/client';
import { runIdOfWorkflow, workflowIdOfRun } from '../../protocol/ids.ts';
import { MEMO, QUERY } from '../../protocol/names.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { Amounts, Bound, FinalStatus, RunFacts, RunResult, RunStatus } from '../../protocol/run.ts';
import { RunNotFoundError } from '../../protocol/errors.ts';
import type { Store } from '../../store/store.ts';
import { decodeAnswer } from '../decode-answer.ts';
import { readQuestion } from '../history/read-question.ts';
import { NOTHING_UNSAVED, stillUnsaved, withWaits } from './unsaved.ts';

/** A worker answers a query in milliseconds. Without a worker the query would wait until one starts. */
const QUERY_DEADLINE_MS = 2_000;

export interface StatusReading {
  status: RunStatus;
  /** True if the run itself answered, which is more complete than what Temporal and the archive know. */
  byRun: boolean;
}

/**
 * Reads the status from the run itself, or of a run that has ended from its archive. If it does not answer, uses what Temporal knows, with a sentence that says why, and then what
 * the archive has.
 */
export async function runStatus(client: Client, store: Store | undefined, runId: string): Promise<StatusReading> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  const deadline = Date.now() + QUERY_DEADLINE_MS;
  try {
    const description = await describe(client, runId);
    const ended = description?.status.name === 'COMPLETED' ? await endedStatus(client, store, description) : null;
    if (ended !== null) return { status: ended, byRun: true };
    const status = await client.withDeadline(deadline, () => handle.query<RunStatus>(QUERY.status));
    if (status.state === 'ended') {
      const unsaved = await stillUnsaved(store, runId, status.unsaved);
      return { status: { ...status, unsaved }, byRun: !unsaved.archive };
    }
    if ((description?.status.name ?? 'RUNNING') === 'RUNNING') {
      return { status: await withWaits(client, description, status), byRun: true };
    }
    // A terminated run still answers queries, from its history, but does not know that it has ended.
    const { pending_question: _question, ...latest } = status;
    const over = await statusWithoutRun(client, store, runId, null);
    return { status: { ...latest, ...endFields(over) }, byRun: false };
  } catch (error) {
    return { status: await statusWithoutRun(client, store, runId, error), byRun: false };
  }
}

/**
 * The status of a run that has ended, from its result and its archive. A query would make a worker replay the whole history, which takes
 * seconds for a run of hundreds of steps. Null if the archive is not there yet, or if an older build wrote it.
 */
async function endedStatus(
  client: Client,
  store: Store | undefined,
  { workflowId, memo }: WorkflowExecutionDescription,
): Promise<RunStatus | null> {
  const runId = runIdOfWorkflow(workflowId) ?? '';
  const archived = await store?.archivedRuns.get(runId).catch(() => null);
  const { facts, final } = (archived?.summary ?? {}) as Partial<ArchivedSummary>;
  if (!archived || final === undefined) return null;
  const result = (await client.workflow.getHandle(workflowId).result()) as RunResult;
  // The goal of the archive is redacted, because people read it.
  const goal = asText(memo?.[MEMO.goal]) || archived.goal;
  const { unsaved } = (archived.summary as ArchivedSummary).result;
  return { ...statusFromResult({ ...result, unsaved }, goal), ...facts, ...final };
}

interface ArchivedSummary {
  result: RunResult;
  facts?: RunFacts;
  final?: FinalStatus;
}

const endFields = ({
  state,
  outcome,
  why,
  next_action,
  result,
  unsaved,
  updated_at,
}: RunStatus): Partial<RunStatus> => ({
  state,
  why,
  next_action,
  unsaved,
  updated_at,
  ...defined({ outcome, result }),
});

async function statusWithoutRun(
  client: Client,
  store: Store | undefined,
  runId: string,
  error: unknown,
): Promise<RunStatus> {
  const description = await describe(client, runId);
  const isOpen = description?.status.name === 'RUNNING';
  const kept = isOpen ? null : await archivedResult(store, runId, description !== null);
  if (kept !== null) return { ...statusFromResult(kept.result, kept.goal), ...kept.facts, ...kept.final };
  if (description === null) throw new RunNotFoundError(runId, error);
  if (description.status.name === 'COMPLETED')
    return statusFromResult(
      (await client.workflow.getHandle(workflowIdOfRun(runId)).result()) as RunResult,
      asText(description.memo?.[MEMO.goal]),
    );
  return fallbackStatus(client, description, runId, error);
}

async function describe(client: Client, runId: string): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(workflowIdOfRun(runId)).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** A store that is away has nothing to say about a run that Temporal still knows. */
async function archivedResult(
  store: Store | undefined,
  runId: string,
  isInTemporal: boolean,
): Promise<(ArchivedSummary & { goal: string }) | null> {
  const archived = await store?.archivedRuns.get(runId).catch((error: unknown) => {
    if (isInTemporal) return null;
    throw error;
  });
  return archived ? { ...(archived.summary as ArchivedSummary), goal: archived.goal } : null;
}

/** Converts the result of a closed run to a status. */
export function statusFromResult(result: RunResult, goal = ''): RunStatus {
  return {
    run_id: result.run_id,
    agent: result.agent,
    goal,
    state: 'ended',
    outcome: result.outcome,
    loop_id: result.result?.loop_id ?? '',
    step_id: result.used.steps,
    phase: 'ended',
    attempt: 0,
    guardrails: {},
    budget: { limit: NO_LIMITS, used: result.used, left: NO_LIMITS },
    bound: result.bound,
    failures: result.failures,
    next_action: 'nothing: the run has ended',
    why: `${result.outcome}: ${result.why}.`,
    result: result.result,
    unsaved: { ...NOTHING_UNSAVED, ...result.unsaved },
    ...defined({ effects: result.effects }),
    started_at: result.started_at,
    updated_at: result.ended_at,
  };
}

const NO_LIMITS = { steps: null, attempts: null, model_calls: null, tokens: null, cost_micro_usd: null, seconds: null };
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

const NOTHING: Amounts = { steps: 0, attempts: 0, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 0 };

/** Makes a status of what Temporal knows, because no worker answers for the run. */
async function fallbackStatus(
  client: Client,
  description: WorkflowExecutionDescription,
  runId: string,
  cause: unknown,
): Promise<RunStatus> {
  const closed = description.closeTime;
  const question = readQuestion(description.memo?.[MEMO.pendingQuestion] as Json | undefined);
  const outcome = description.memo?.[MEMO.outcome] as RunStatus['outcome'];
  const known = (name: string): string => asText(description.memo?.[name]);
  return {
    run_id: runId,
    agent: known(MEMO.agent),
    goal: known(MEMO.goal),
    state: closed ? 'ended' : question === null ? 'running' : 'waiting_for_human',
    ...(closed ? { outcome: outcome ?? outcomeFromClose(description.status.name) } : {}),
    loop_id: '',
    step_id: 0,
    phase: '',
    attempt: 0,
    guardrails: {},
    budget: { limit: NO_LIMITS, used: NOTHING, left: NO_LIMITS },
    // A bare start that no worker has prepared yet has no limit that anybody knows.
    bound: (description.memo?.[MEMO.bound] as Bound | undefined) ?? null,
    failures: { total: 0, active: 0, by_signal: {} },
    ...defined({ pending_question: question ?? undefined }),
    next_action: closed ? 'nothing: the run has ended' : 'start a worker: `secondwind worker`',
    why: closed
      ? `The run was closed as ${description.status.name.toLowerCase()} and has no summary.`
      : await whyNoAnswer(client, description, runId, cause),
    // Nobody can tell what such a run had not saved; an ended one leaves no archive.
    unsaved: { ...NOTHING_UNSAVED, archive: Boolean(closed) },
    started_at: description.startTime.toISOString(),
    updated_at: (closed ?? description.startTime).toISOString(),
  };
}

async function whyNoAnswer(
  client: Client,
  { taskQueue }: WorkflowExecutionDescription,
  runId: string,
  cause: unknown,
): Promise<string> {
  const polled = await lastPoll(client, taskQueue);
  if (polled === null) return `No worker is working on this run: none polls the task queue ${taskQueue}.`;
  const failed = await lastTaskFailure(client, runId);
  const said = failed ?? (cause instanceof Error ? cause.message : String(cause));
  return `The run did not answer (${said}); a worker polled ${taskQueue} last at ${polled.toISOString()}.`;
}

/**
 * The message of the workflow task that failed last, such as one about a missing encryption key, or null. The server tries such a
 * task again by itself and answers no query meanwhile.
 */
async function lastTaskFailure(client: Client, runId: string): Promise<string | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId: workflowIdOfRun(runId) },
    maximumPageSize: 1,
  });
  const [last] = await decodeAnswer(client, history?.events ?? []);
  return last?.workflowTaskFailedEventAttributes?.failure?.message ?? null;
}

const outcomeFromClose = (status: string): NonNullable<RunStatus['outcome']> =>
  status === 'CANCELLED' || status === 'TERMINATED' ? 'cancelled' : 'system_error';

/** A worker polls at least once a minute, so one that has not polled for longer has stopped. */
const STILL_THERE_MS = 70_000;

/** Returns when a worker last polled this task queue, or null if none does. */
async function lastPoll(client: Client, taskQueue: string): Promise<Date | null> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- TASK_QUEUE_TYPE_WORKFLOW; the SDK exports no enum
    taskQueueType: 1,
  });
  const times = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000);
  const latest = Math.max(0, ...times);
  return latest > Date.now() - STILL_THERE_MS ? new Date(latest) : null;
}
