import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { GuardEnding, LoopGuardInput } from '../../core/guardrails/loop-guard.ts';
import type { Refusal } from '../../core/guardrails/refusal.ts';
import { NotReachableError } from '../../protocol/errors.ts';
import { workflowIdOfGuard } from '../../protocol/ids.ts';
import { WORKFLOW_TYPE } from '../../protocol/names.ts';
import type { Store } from '../../store/store.ts';
import { GuardRefusedError } from '../guard-errors.ts';

/** Tasks of a guard take milliseconds. With this timeout a killed worker delays a report by 3 s, and not by the default of 10 s. */
const TASK_TIMEOUT_MS = 3_000;

export interface GuardUpdate {
  family: string;
  name: string;
  updateId: string;
  args: [unknown, ...unknown[]];
}

/** Returned if no open guard exists for the family, because it ended or never started. */
export const NOT_OPEN = Symbol('no open guard');

/** Sends an update to the open guard of a family. */
export function updateGuard<Answer>(client: Client, update: GuardUpdate): Promise<Answer | typeof NOT_OPEN> {
  const { family, name, updateId, args } = update;
  const handle = client.workflow.getHandle(workflowIdOfGuard(family));
  return answered(family, () => handle.executeUpdate<Answer, GuardUpdate['args']>(name, { updateId, args }));
}

/**
 * Sends an update to the open guard of a family, or starts a new guard with it. The reuse policy keeps a family that has ended from
 * getting a new, empty guard.
 */
export function openGuard<Answer>(
  client: Client,
  update: GuardUpdate,
  start: { taskQueue: string; input: LoopGuardInput },
): Promise<Answer | typeof NOT_OPEN> {
  const { family, name, updateId, args } = update;
  const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPE.loopGuard, {
    workflowId: workflowIdOfGuard(family),
    taskQueue: start.taskQueue,
    args: [start.input],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowTaskTimeout: TASK_TIMEOUT_MS,
    staticSummary: `Guards the loops of ${family}`,
  });
  return answered(family, () =>
    client.workflow.executeUpdateWithStart(name, { updateId, args, startWorkflowOperation }),
  );
}

async function answered<Answer>(family: string, send: () => Promise<Answer>): Promise<Answer | typeof NOT_OPEN> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError)
      return NOT_OPEN;
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) throw noAnswer(family, error);
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
      // The workflow closed before it answered the update.
      if (error.cause.type === 'AcceptedUpdateCompletedWorkflow') return NOT_OPEN;
      const [refusal] = error.cause.details ?? [];
      if (isRefusal(refusal)) throw new GuardRefusedError(refusal, error);
    }
    throw error;
  }
}

/** The guard may have processed the message without an answer. Sending it again is safe. */
export const noAnswer = (family: string, cause: unknown): NotReachableError =>
  new NotReachableError(
    `The guard of ${family}`,
    'Make sure that a worker runs (`secondwind worker`) and send the same message again; it counts only once.',
    cause,
  );

const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'problem' in value && 'detail' in value;

export type Found = 'open' | 'unknown' | GuardEnding;

/**
 * Finds out why a guard takes no messages, without a worker. Temporal answers an update with "not found" for a closed workflow, for
 * a deleted one and for one that never existed; only the first two have an ending.
 */
export async function findEnding(client: Client, store: Store | undefined, family: string): Promise<Found> {
  const description = await describe(client, family);
  if (description?.status.name === 'RUNNING') return 'open';
  if (description?.status.name === 'COMPLETED') {
    return (await client.workflow.getHandle(description.workflowId, description.runId).result()) as GuardEnding;
  }
  const kept = await store?.archivedGuards.get(family);
  if (kept) return kept.ending as GuardEnding;
  // A guard that was terminated left no state. Its name stays taken.
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
