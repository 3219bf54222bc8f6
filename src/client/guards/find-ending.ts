import { type Client, WorkflowNotFoundError, type WorkflowExecutionDescription } from '@temporalio/client';
import { workflowIdOfGuard } from '../../protocol/ids.ts';
import type { GuardEnding } from '../../core/guardrails/loop-guard.ts';

/** Where the endings of guards are kept once Temporal has forgotten them. */
export interface GuardArchiveReader {
  get(family: string): Promise<{ ending: unknown } | null>;
}

export type Found = 'open' | 'unknown' | GuardEnding;

/**
 * What is known of a guard that takes no messages. Needs no worker. For the server a closed workflow, a forgotten one
 * and one that never was are all "not found" to an update; only the first two have an ending.
 */
export async function findEnding(client: Client, family: string, archive?: GuardArchiveReader): Promise<Found> {
  const description = await describe(client, family);
  if (description?.status.name === 'RUNNING') return 'open';
  if (description?.status.name === 'COMPLETED') {
    return (await client.workflow.getHandle(description.workflowId, description.runId).result()) as GuardEnding;
  }
  const kept = await archive?.get(family);
  if (kept) return kept.ending as GuardEnding;
  // Terminated from outside: its state is lost to us, its name stays taken.
  return description === null ? 'unknown' : { version: 1, state: null, ignored: [] };
}

async function describe(client: Client, family: string): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(workflowIdOfGuard(family)).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
