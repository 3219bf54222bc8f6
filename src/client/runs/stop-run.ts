import { type Client, WorkflowFailedError } from '@temporalio/client';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import { isDeadline } from '../guards/send-update.ts';
import type { ProjectedStep } from '../views.ts';

/** Whether the workflow comes to its end within this time, whatever its end is. */
export async function endsWithin(client: Client, runId: string, ms: number): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    await client.withDeadline(Date.now() + ms, () => handle.result());
    return true;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return true;
    if (isDeadline(error)) return false;
    throw error;
  }
}

/** What is still under way, in words. */
export const underWay = (steps: readonly ProjectedStep[]): string[] =>
  steps.flatMap(({ step_id, tool, attempts }) =>
    attempts
      .filter((attempt) => attempt.outcome === 'running')
      .map(({ attempt }) => `step ${step_id}: ${tool}, attempt ${attempt}`),
  );
