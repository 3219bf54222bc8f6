import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { MessageAnswer } from '../core/run/messages.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import type { RunMessage } from '../protocol/messages.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { MessageRefusedError, RunEndedError, RunNotFoundError } from '../protocol/errors.ts';

/** Sends a message as an update, which is validated and answered. */
export async function sendMessage(
  client: Client,
  runId: string,
  type: RunMessage['type'],
  body: unknown,
): Promise<MessageAnswer> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return await handle.executeUpdate<MessageAnswer, [unknown]>(type, { args: [body] });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw await endedOrUnknown(client, runId, error);
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
      throw refusalOf(error.cause, runId);
    }
    throw error;
  }
}

/** For the server a closed workflow is "not found" too; people want to know which of the two it is. */
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
