import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { MessageAnswer } from '../core/run/messages.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import { sendMessage } from './messages.ts';

/**
 * Two steps: the update says who and why and is audited by the run; Temporal's own cancel makes the workflow close as
 * cancelled, which a workflow cannot ask for by itself.
 */
export async function cancelRun(client: Client, runId: string, body: unknown): Promise<MessageAnswer> {
  const answer = await sendMessage(client, runId, 'cancel_run', body);
  try {
    await client.workflow.getHandle(workflowIdOfRun(runId)).cancel();
  } catch (error) {
    // It has heard the message and ended already.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return answer;
}
