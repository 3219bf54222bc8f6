import { defined } from '../protocol/json.ts';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { log, ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { workflowIdOfArchive } from '../protocol/ids.ts';
import { WORKFLOW_TYPE } from '../protocol/names.ts';
import type { Execution, RunArchive } from '../protocol/records.ts';
import { archivePatiently } from './activity-proxies.ts';

export interface SaveArchiveInput {
  archive: RunArchive;
  /** The run's latest execution: what its earlier writes could not save is in its history. */
  run: Execution;
}

/** After this time nobody expects the store to come back; Temporal then closes the workflow as timed out. */
const LONGEST_WAIT_MS = 30 * 86_400_000;

/** Writes the archive of a run that has ended while the store was away. Its activity is retried until the store takes it. */
export async function saveArchive({ archive, run }: SaveArchiveInput): Promise<void> {
  await archivePatiently(archive, run);
}

/** Starts `saveArchive` and returns once Temporal has it. The child goes on after the run's own workflow has closed. */
export async function startSavingArchive(archive: RunArchive, taskQueue?: string): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  const input: SaveArchiveInput = { archive, run: { workflowId, runId } };
  try {
    await startChild<typeof saveArchive>(WORKFLOW_TYPE.saveArchive, {
      workflowId: workflowIdOfArchive(archive.run_id),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowExecutionTimeout: LONGEST_WAIT_MS,
      staticSummary: `the archive of the run ${archive.run_id}`,
      ...defined({ taskQueue }),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    // An operator has reset the run's workflow: the archive of its first ending is being written, and it stands.
    log.warn('archive_already_waiting', { run_id: archive.run_id });
  }
}
