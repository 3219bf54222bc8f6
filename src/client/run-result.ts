import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { QUERY } from '../protocol/names.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import type { RunResult } from '../protocol/run.ts';
import { RunNotFoundError, SecondwindError } from '../protocol/errors.ts';
import type { RunArchiveReader } from './run-status.ts';

/**
 * Waits for a run's typed ending. A workflow that was closed as cancelled carries no result, so that ending is asked of
 * the run itself, and then of the archive.
 */
export async function endOfRun(client: Client, runId: string, archive?: RunArchiveReader): Promise<RunResult> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return (await handle.result()) as RunResult;
  } catch (error) {
    const archived = await archive?.get(runId);
    if (archived) return (archived.summary as { result: RunResult }).result;
    if (error instanceof WorkflowNotFoundError) throw new RunNotFoundError(runId, error);
    if (error instanceof WorkflowFailedError) return askRun(client, runId, error);
    throw error;
  }
}

async function askRun(client: Client, runId: string, cause: unknown): Promise<RunResult> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  const result = await handle.query<RunResult | null>(QUERY.result);
  if (result !== null) return result;
  throw new SecondwindError('no_result', `The run ${runId} ended without a result.`, 'Look at its history.', cause);
}
