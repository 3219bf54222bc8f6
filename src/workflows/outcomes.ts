import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TemporalFailure,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { isFailureCategory } from '../protocol/failure-categories.ts';
import { isRecord } from '../protocol/json.ts';
import type { CallCancelled, CallFailed } from '../protocol/tools.ts';

/**
 * How an activity that did not succeed is told to the story. With one attempt the platform's own faults come through,
 * so each has a row here. What is no Temporal failure is a bug in the workflow and is thrown on.
 */
export function outcomeOfFailure(error: unknown, durationMs: number): CallFailed | CallCancelled {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure) {
    return { class: 'cancelled', ...useIn(cause.details?.[0]), duration_ms: durationMs };
  }
  if (cause instanceof TemporalFailure) return outcomeOfCause(cause, durationMs);
  throw error;
}

/** What made an activity, or anything else that is not the workflow itself, fail. */
export function outcomeOfCause(cause: TemporalFailure, durationMs: number): CallFailed {
  if (cause instanceof TimeoutFailure) return outcomeOfTimeout(cause, durationMs);
  if (cause instanceof ApplicationFailure) return outcomeOfApplication(cause, durationMs);
  return unknownError(cause.name, cause.message, durationMs);
}

/** What a turn says it has reserved before it asks a model: all of it counts as used when nobody hears of it again. */
function useIn(told: unknown): { tokens?: number; cost_micro_usd?: number } {
  const { tokens, cost_micro_usd } = isRecord(told) ? told : {};
  return {
    ...(typeof tokens === 'number' && { tokens }),
    ...(typeof cost_micro_usd === 'number' && { cost_micro_usd }),
  };
}

function outcomeOfTimeout(cause: TimeoutFailure, durationMs: number): CallFailed {
  const reserved = useIn(isRecord(cause.lastHeartbeatDetails) ? cause.lastHeartbeatDetails['reserved'] : null);
  switch (cause.timeoutType) {
    case TimeoutType.HEARTBEAT:
      return { ...lost('HEARTBEAT_LOST', 'unknown', 'the worker stopped answering', durationMs), ...reserved };
    case TimeoutType.SCHEDULE_TO_START:
    case TimeoutType.SCHEDULE_TO_CLOSE:
      return lost('NO_WORKER', 'not_started', 'no worker took the call', durationMs);
    case TimeoutType.START_TO_CLOSE:
    default:
      return {
        class: 'failed',
        certainty: 'unknown',
        origin: 'tool',
        category: 'timeout',
        error_code: 'TIMEOUT',
        message_preview: 'gave no answer within its time',
        ...reserved,
        duration_ms: durationMs,
      };
  }
}

function outcomeOfApplication(cause: ApplicationFailure, durationMs: number): CallFailed {
  const told = cause.details?.[0];
  if (isCallFailed(told)) return told;
  switch (cause.type) {
    case 'WorkerShutdown':
      return lost('WORKER_SHUTDOWN', 'unknown', 'the worker had to stop', durationMs);
    case 'NotFoundError':
      return {
        ...lost('NOT_REGISTERED', 'not_started', 'the worker that took the call does not know this tool', durationMs),
        category: 'not_registered',
      };
    default:
      return unknownError(cause.type ?? 'ERROR', cause.message, durationMs);
  }
}

const lost = (code: string, certainty: CallFailed['certainty'], message: string, durationMs: number): CallFailed => ({
  class: 'failed',
  certainty,
  origin: 'infrastructure',
  category: 'worker_lost',
  error_code: code,
  message_preview: message,
  duration_ms: durationMs,
});

/** Nobody can say what such a failure means, so nobody can say whether the effect happened. */
const unknownError = (code: string, message: string, durationMs: number): CallFailed => ({
  class: 'failed',
  certainty: 'unknown',
  origin: 'tool',
  category: 'unknown_error',
  error_code: code.slice(0, 80),
  message_preview: message.slice(0, 300),
  duration_ms: durationMs,
});

const isCallFailed = (value: unknown): value is CallFailed =>
  typeof value === 'object' &&
  value !== null &&
  (value as CallFailed).class === 'failed' &&
  isFailureCategory((value as CallFailed).category);
