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
import { decideCertainty } from '../../core/retry/certainty.ts';
import { CAP } from '../../protocol/caps.ts';
import type { CallCancelled, CallFailed, ToolEffect } from '../../protocol/tools.ts';
import { classifyCause } from '../outcomes.ts';
import { readStatement } from './read-statement.ts';

/** The attempt of a guarded step that has failed. */
export interface FailedAttempt {
  effect: ToolEffect;
  /** True if the run itself cancelled the attempt. */
  isStopped: boolean;
  durationMs: number;
}

/**
 * Converts the failure of a step in a user's own workflow to an outcome: of an activity, a child workflow, a Nexus
 * operation, or an error that the step itself throws. Anything that is not a Temporal failure is a bug in the workflow
 * and is rethrown.
 */
export function classifyStepFailure(
  error: unknown,
  { effect, isStopped, durationMs }: FailedAttempt,
): CallFailed | CallCancelled {
  if (!(error instanceof TemporalFailure)) throw error;
  if (isCancellation(error)) {
    return isStopped ? { class: 'cancelled', duration_ms: durationMs } : cancelledElsewhere(error, durationMs);
  }
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    const reason = { category: 'invalid_input', error_code: 'CHILD_ALREADY_STARTED' } as const;
    return { ...failed(error.message, durationMs), ...reason };
  }
  const cause = innermost(error);
  if (cause instanceof ApplicationFailure && !isFromWorker(cause)) {
    const { certainty: stated, ...statement } = readStatement(cause);
    // A child workflow may have done other things before its activity failed, so that activity cannot speak for it.
    const certainty = decideCertainty(effect, isDirect(error, cause) ? stated : undefined, 'failed');
    return { ...failed(cause.message, durationMs), ...statement, certainty };
  }
  // A step may call several activities. That one of them timed out or never started says nothing about those before it.
  return { ...classifyCause(cause, durationMs), certainty: 'unknown' };
}

/** Finds the innermost cause, because a child workflow whose activity failed has failed for the activity's reason. */
function innermost(error: TemporalFailure): TemporalFailure {
  return isWrapper(error) && error.cause instanceof TemporalFailure ? innermost(error.cause) : error;
}

const isWrapper = (error: TemporalFailure): boolean =>
  error instanceof ActivityFailure || error instanceof ChildWorkflowFailure || error instanceof NexusOperationFailure;

/** True if the step, or the activity or child workflow that it called, has thrown the cause itself. */
const isDirect = (error: TemporalFailure, cause: TemporalFailure): boolean => error === cause || error.cause === cause;

/** True if the worker made the failure: it was shut down, or it does not know the activity. */
const isFromWorker = ({ type, message }: ApplicationFailure): boolean =>
  type === 'WorkerShutdown' || (type === 'NotFoundError' && message.includes('is not registered on this Worker'));

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
  message_preview: message.slice(0, CAP.messagePreviewChars),
  duration_ms: durationMs,
});
