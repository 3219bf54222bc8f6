import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import { NotReachableError, RunNotFoundError } from '../../protocol/errors.ts';

/** A worker answers in milliseconds; without one a query would hang until somebody starts one. */
const QUERY_DEADLINE_MS = 2_000;

export type Asked<T> = { answer: T } | { answer: null; cause: unknown };

/** The run's own word, or why it cannot be had. */
export async function askRun<T>(client: Client, runId: string, query: string): Promise<Asked<T>> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return { answer: await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () => handle.query<T>(query)) };
  } catch (cause) {
    return { answer: null, cause };
  }
}

/** Neither the run nor what it left behind answers: told as what it is. */
export const noAnswer = (runId: string, cause: unknown): Error =>
  cause instanceof WorkflowNotFoundError
    ? new RunNotFoundError(runId, cause)
    : new NotReachableError(`The run ${runId}`, 'See that a worker runs (`secondwind worker`) and ask again.', cause);

export async function isKnown(client: Client, runId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowIdOfRun(runId)).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
