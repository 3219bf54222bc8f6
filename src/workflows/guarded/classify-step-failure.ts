import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  NexusOperationFailure,
  TemporalFailure,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import type { CallCancelled, CallFailed } from '../../protocol/tools.ts';
import { classifyCause } from '../outcomes.ts';

/**
 * Converts the failure of a step in a user's own workflow to an outcome: of an activity, a child workflow, a Nexus
 * operation, or an error that the step itself throws. Anything that is not a Temporal failure is a bug in the workflow
 * and is rethrown.
 */
export function classifyStepFailure(
  error: unknown,
  isStopped: boolean,
  durationMs: number,
): CallFailed | CallCancelled {
  if (!(error instanceof TemporalFailure)) throw error;
  if (isCancellation(error)) {
    return isStopped ? { class: 'cancelled', duration_ms: durationMs } : cancelledElsewhere(error, durationMs);
  }
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    const reason = { category: 'invalid_input', error_code: 'CHILD_ALREADY_STARTED' } as const;
    return { ...failed(error.message, durationMs), ...reason };
  }
  const outcome = classifyCause(innermost(error), durationMs);
  // A step may call several activities: that one of them failed, or never started, says nothing about those before it. Only
  // what the step throws itself can state that nothing was done.
  return error instanceof ApplicationFailure ? outcome : { ...outcome, certainty: 'unknown' };
}

/** Finds the innermost cause, because a child workflow whose activity failed has failed for the activity's reason. */
function innermost(error: TemporalFailure): TemporalFailure {
  const carries =
    error instanceof ActivityFailure || error instanceof ChildWorkflowFailure || error instanceof NexusOperationFailure;
  return carries && error.cause instanceof TemporalFailure ? innermost(error.cause) : error;
}

/** The child or activity was cancelled by someone else and not by this workflow, so the step has failed. */
const cancelledElsewhere = (error: TemporalFailure, durationMs: number): CallFailed => {
  const told = error instanceof CancelledFailure ? error.message : `${error.message}: ${error.cause?.message ?? ''}`;
  return failed(told, durationMs);
};

const failed = (message: string, durationMs: number): CallFailed => ({
  class: 'failed',
  certainty: 'unknown',
  origin: 'tool',
  category: 'unknown_error',
  error_code: 'CANCELLED_ELSEWHERE',
  message_preview: message.slice(0, 300),
  duration_ms: durationMs,
});
