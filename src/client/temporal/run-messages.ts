import { type Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MessageRefusedError, RunEndedError, RunNotFoundError } from '../../protocol/errors.ts';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import type { MessageBody, RunMessage } from '../../protocol/messages.ts';
import { MESSAGE } from '../../protocol/names.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import { isDeadline } from './grpc-errors.ts';

/** Sends a message as an update, which the run checks and answers. */
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
      throw toRefusal(error.cause, runId);
    }
    throw error;
  }
}

/** Tells an open run that a person superseded one of its failures. A run that has ended, or runs elsewhere, needs no message. */
export async function signalSuperseded(client: Client, runId: string, body: MessageBody<'supersede'>): Promise<void> {
  try {
    await client.workflow.getHandle(workflowIdOfRun(runId)).signal(MESSAGE.supersede, body);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/**
 * Cancels in two steps. The update tells the run who cancels and why. Temporal's own cancel then closes the workflow as cancelled,
 * which a workflow cannot do by itself. Returns whether the work has stopped within `waitMs`.
 */
export async function cancelRun(client: Client, runId: string, body: unknown, waitMs: number): Promise<boolean> {
  await sendMessage(client, runId, 'cancel_run', body);
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  await handle.cancel().catch((error: unknown) => {
    // The run has already ended because of the message.
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

/** Tells a closed run from an unknown one, because Temporal answers an update with "not found" for both. */
export async function endedOrUnknown(client: Client, runId: string, cause: Error): Promise<Error> {
  try {
    await client.workflow.getHandle(workflowIdOfRun(runId)).describe();
    return new RunEndedError(runId, cause);
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? new RunNotFoundError(runId, error) : (error as Error);
  }
}

function toRefusal(cause: ApplicationFailure, runId: string): Error {
  if (cause.type === 'ended' || cause.type === 'AcceptedUpdateCompletedWorkflow')
    return new RunEndedError(runId, cause);
  const errors = (cause.details?.[0] ?? [{ path: '$', message: cause.message }]) as RequestProblem[];
  return new MessageRefusedError(cause.type ?? 'refused', errors, cause);
}
