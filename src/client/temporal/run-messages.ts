import { type Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MessageRefusedError, RunEndedError, RunNotFoundError } from '../../protocol/errors.ts';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import type { RunMessage } from '../../protocol/messages.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import { isDeadline } from './grpc-errors.ts';

/** Sends a message as an update, which the run validates and answers. */
export async function sendMessage<Answer>(
  client: Client,
  runId: string,
  type: RunMessage['type'],
  body: unknown,
): Promise<Answer> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return await handle.executeUpdate<Answer, [unknown]>(type, { args: [body] });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw await endedOrUnknown(client, runId, error);
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
      throw refusalOf(error.cause, runId);
    }
    throw error;
  }
}

/**
 * Cancels in two steps: the update says who and why and is audited by the run; Temporal's own cancel makes the workflow close
 * as cancelled, which a workflow cannot request for itself. Returns whether the work has stopped within `waitMs`.
 */
export async function cancelRun(client: Client, runId: string, body: unknown, waitMs: number): Promise<boolean> {
  await sendMessage(client, runId, 'cancel_run', body);
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  await handle.cancel().catch((error: unknown) => {
    // The run has taken the message and ended already.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
  try {
    await client.withDeadline(Date.now() + waitMs, () => handle.result());
    return true;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return true;
    if (isDeadline(error)) return false;
    throw error;
  }
}

/** To the server a closed workflow is "not found" too; the caller has to know which of the two it is. */
export async function endedOrUnknown(client: Client, runId: string, cause: Error): Promise<Error> {
  try {
    await client.workflow.getHandle(workflowIdOfRun(runId)).describe();
    return new RunEndedError(runId, cause);
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? new RunNotFoundError(runId, error) : (error as Error);
  }
}

function refusalOf(cause: ApplicationFailure, runId: string): Error {
  if (cause.type === 'ended' || cause.type === 'AcceptedUpdateCompletedWorkflow')
    return new RunEndedError(runId, cause);
  const errors = (cause.details?.[0] ?? [{ path: '$', message: cause.message }]) as RequestProblem[];
  return new MessageRefusedError(cause.type ?? 'refused', errors, cause);
}
