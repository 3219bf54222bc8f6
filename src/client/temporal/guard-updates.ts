import {
  type Client,
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../core/guardrails/refusal.ts';
import { workflowIdOfGuard } from '../../protocol/ids.ts';
import { WORKFLOW_TYPE } from '../../protocol/names.ts';
import type { LoopGuardInput } from '../../core/guardrails/loop-guard.ts';
import { GuardNoAnswerError, GuardRefusedError } from './guard-errors.ts';

/** A guard's tasks take milliseconds: a worker that was killed with one holds the report up this long, not ten seconds. */
const TASK_TIMEOUT_MS = 3_000;

export interface GuardUpdate {
  family: string;
  name: string;
  updateId: string;
  args: [unknown, ...unknown[]];
}

/** Said by the server, not by the guard: there is no guard that takes messages (any more). */
export const NOT_OPEN = Symbol('no open guard');

/** To the guard that is there. */
export function updateGuard<Answer>(client: Client, update: GuardUpdate): Promise<Answer | typeof NOT_OPEN> {
  const { family, name, updateId, args } = update;
  const handle = client.workflow.getHandle(workflowIdOfGuard(family));
  return answered(family, () => handle.executeUpdate<Answer, GuardUpdate['args']>(name, { updateId, args }));
}

/**
 * To the guard that is there, or to a new one. The reuse policy is the point: the server's default would start an empty
 * guard for a family that has ended.
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
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) throw new GuardNoAnswerError(family, error);
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
      // The workflow closed with the update under way.
      if (error.cause.type === 'AcceptedUpdateCompletedWorkflow') return NOT_OPEN;
      const [refusal] = error.cause.details ?? [];
      if (isRefusal(refusal)) throw new GuardRefusedError(refusal, error);
    }
    throw error;
  }
}

const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'problem' in value && 'detail' in value;

/** gRPC's DEADLINE_EXCEEDED; the SDK exports no enum. */
const DEADLINE_EXCEEDED = new Set<unknown>([4]);
/** Wherever the SDK has wrapped it. */
export const isDeadline = (error: unknown): boolean =>
  (isGrpcServiceError(error) && DEADLINE_EXCEEDED.has(error.code)) ||
  (error instanceof Error && error.cause !== undefined && isDeadline(error.cause));
