import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import { visibleRuns } from './visibility.ts';

/** No run can have this id, because ids begin with a letter or a digit. */
const NO_RUN = workflowIdOfRun('-readiness-check');

/**
 * Resolves if Temporal can read its database. A namespace is described from memory, also when the database is damaged, so
 * this reads a page of the list of runs and a workflow that does not exist.
 */
export async function checkTemporal(client: Client): Promise<void> {
  await visibleRuns(client, [], { size: 1 });
  try {
    await client.workflow.getHandle(NO_RUN).describe();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
