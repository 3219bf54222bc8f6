import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { ReasonedTraceItem } from '../../core/guardrails/loop-trace.ts';
import { NotReachableError, RunNotFoundError, SecondwindError } from '../../protocol/errors.ts';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import { QUERY } from '../../protocol/names.ts';
import type { ArchivedStep } from '../../protocol/records.ts';
import type { RunResult } from '../../protocol/run.ts';
import { previewJson } from '../../core/redaction/preview.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import type { Store } from '../../store/store.ts';
import { fetchHistory } from '../history/read-history.ts';
import { projectHistory } from '../history/project-history.ts';
import type { RecordedStep } from '../history/steps.ts';
import type { RunEvent } from '../history/run-event.ts';
import type { ProjectedStep, ShownGuidance } from '../views.ts';
import { readJsonArtifacts } from './json-artifacts.ts';
import { previewSteps } from './step-previews.ts';
import { stillUnsaved } from './unsaved.ts';

/** A worker answers a query in milliseconds. Without a worker the query would wait until one starts. */
const QUERY_DEADLINE_MS = 2_000;

export type RunAnswer<T> = { answer: T } | { answer: null; cause: unknown };

/** Queries the run itself. Returns its answer, or the cause if it gave none. */
export async function askRun<T>(client: Client, runId: string, query: string): Promise<RunAnswer<T>> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return { answer: await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () => handle.query<T>(query)) };
  } catch (cause) {
    return { answer: null, cause };
  }
}

/** Whether Temporal has the run. */
export async function isKnownRun(client: Client, runId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowIdOfRun(runId)).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Waits until a run has ended and returns its result. A workflow that was closed as cancelled has no result, so it is then read from
 * the archive or from the run itself.
 */
export async function runResult(client: Client, store: Store | undefined, runId: string): Promise<RunResult> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    const result = (await handle.result()) as RunResult;
    return { ...result, unsaved: await stillUnsaved(store, runId, result.unsaved) };
  } catch (error) {
    // A run that Temporal still knows can answer itself while the store is away.
    const archived = await store?.archivedRuns.get(runId).catch((away: unknown) => {
      if (error instanceof WorkflowNotFoundError) throw away;
      return null;
    });
    if (archived) return (archived.summary as { result: RunResult }).result;
    if (error instanceof WorkflowNotFoundError) throw new RunNotFoundError(runId, error);
    if (!(error instanceof WorkflowFailedError)) throw error;
    const result = await handle.query<RunResult | null>(QUERY.result);
    if (result !== null) return result;
    throw new SecondwindError(
      'no_result',
      `The run ${runId} ended without a result.`,
      'Look at its history in the Temporal UI.',
      error,
    );
  }
}

/** Reads the passes of a run with the reason of each decision, from the run itself or from the archive. */
export async function runTrace(client: Client, store: Store | undefined, runId: string): Promise<ReasonedTraceItem[]> {
  const asked = await askRun<{ trace: ReasonedTraceItem[] }>(client, runId, QUERY.trace);
  if (asked.answer !== null) return asked.answer.trace;
  const kept = await store?.archivedRuns.get(runId);
  if (kept) return kept.trace as ReasonedTraceItem[];
  if (asked.cause instanceof WorkflowNotFoundError) throw new RunNotFoundError(runId, asked.cause);
  const nextStep = 'Make sure that a worker runs (`secondwind worker`) and try again.';
  throw new NotReachableError(`The run ${runId}`, nextStep, asked.cause);
}

/** Reads all events of a run so far, oldest first. */
export const runEvents = async (client: Client, runId: string): Promise<RunEvent[]> =>
  projectHistory(await fetchHistory(client, runId), { runId }).events;

/**
 * Reads the steps from history, with previews of their values. Once history is deleted, the archive still has the steps with their
 * inputs, but not their attempts.
 */
export async function runSteps(
  client: Client,
  store: Store | undefined,
  runId: string,
  redact: Redact,
): Promise<ProjectedStep[]> {
  try {
    return await previewSteps(await recordedSteps(client, runId), store, redact);
  } catch (error) {
    const kept = error instanceof RunNotFoundError ? await store?.archivedRuns.get(runId) : null;
    if (!kept) throw error;
    const { steps = [] } = kept.summary as { steps?: ArchivedStep[] };
    const inputs = await readJsonArtifacts(
      store,
      steps.flatMap(({ input_id }) => input_id ?? []),
    );
    return steps.map(({ loop_id, step_id, phase, tool, input_id = '' }) => ({
      loop_id,
      step_id,
      phase,
      tool,
      input: previewJson(inputs.get(input_id) ?? null, redact),
      ...(inputs.has(input_id) && { input_artifact_id: input_id }),
      attempts: [],
    }));
  }
}

const recordedSteps = async (client: Client, runId: string): Promise<RecordedStep[]> =>
  projectHistory(await fetchHistory(client, runId), { runId }).steps;

/** Describes the attempts that are still running. */
export const runningAttempts = async (client: Client, runId: string): Promise<string[]> =>
  (await recordedSteps(client, runId)).flatMap(({ step_id, tool, attempts }) =>
    attempts
      .filter((attempt) => attempt.outcome === 'running')
      .map(({ attempt }) => `step ${step_id}: ${tool}, attempt ${attempt}`),
  );

/** Finds the guidance that an attempt was shown; without `attempt`, of the latest attempt that was shown any. */
export function shownGuidance(events: readonly RunEvent[], stepId: number, attempt?: number): ShownGuidance {
  const shown = events.flatMap((event) =>
    event.event === 'guidance_shown' && event.step_id === stepId && (attempt === undefined || event.attempt === attempt)
      ? [{ step_id: stepId, attempt: event.attempt, guidance: event.guidance, rows: event.rows }]
      : [],
  );
  const latest = shown.sort((one, other) => one.attempt - other.attempt).at(-1);
  if (latest !== undefined) return latest;
  const which = attempt === undefined ? `No attempt of step ${stepId}` : `Attempt ${attempt} of step ${stepId}`;
  throw new SecondwindError(
    'no_guidance',
    `${which} was shown guidance${attempt === undefined ? '' : ', or there is no such attempt'}.`,
    'Only attempts after a failure are shown guidance. The list of steps has all attempts.',
  );
}
