import {
  ActivityFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  NexusOperationFailure,
  TemporalFailure,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import type { CallCancelled, CallFailed } from '../../protocol/tools.ts';
import { outcomeOfCause } from '../outcomes.ts';

/**
 * How a step of somebody's own workflow failed: by an activity, a child workflow, an operation of Nexus, or by what the step
 * throws itself. What is no Temporal failure is a bug in the workflow and is thrown on.
 */
export function outcomeOfStep(error: unknown, isStopped: boolean, durationMs: number): CallFailed | CallCancelled {
  if (!(error instanceof TemporalFailure)) throw error;
  if (isCancellation(error)) {
    return isStopped ? { class: 'cancelled', duration_ms: durationMs } : cancelledElsewhere(error, durationMs);
  }
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    const reason = { category: 'invalid_input', error_code: 'CHILD_ALREADY_STARTED' } as const;
    return { ...failed(error.message, durationMs), ...reason, certainty: 'not_started' };
  }
  return outcomeOfCause(innermost(error), durationMs);
}

/** A child whose own activity failed has failed for that reason. */
function innermost(error: TemporalFailure): TemporalFailure {
  const carries =
    error instanceof ActivityFailure || error instanceof ChildWorkflowFailure || error instanceof NexusOperationFailure;
  return carries && error.cause instanceof TemporalFailure ? innermost(error.cause) : error;
}

/** Nobody cancelled this workflow or its step: the child or activity was cancelled by others, and has failed its step. */
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
