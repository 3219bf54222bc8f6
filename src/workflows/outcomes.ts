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

/** The worker stopped answering while it had the call. It may be dead, or only frozen. */
export const HEARTBEAT_LOST = 'HEARTBEAT_LOST';

/**
 * Converts the failure of an activity to an outcome. Activities have one attempt, so failures of the platform arrive
 * here too, and each has its own case. Anything that is not a Temporal failure is a bug in the workflow and is
 * rethrown.
 */
export function classifyFailure(error: unknown, durationMs: number): CallFailed | CallCancelled {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure) {
    return { class: 'cancelled', ...readUse(cause.details?.[0]), duration_ms: durationMs };
  }
  if (cause instanceof TemporalFailure) return classifyCause(cause, durationMs);
  throw error;
}

/** Converts the cause of a failed activity, child workflow or other operation to an outcome. */
export function classifyCause(cause: TemporalFailure, durationMs: number): CallFailed {
  if (cause instanceof TimeoutFailure) return classifyTimeout(cause, durationMs);
  if (cause instanceof ApplicationFailure) return classifyApplicationFailure(cause, durationMs);
  return unknownError(cause.name, cause.message, durationMs);
}

/** Reads what a turn had reserved before it called a model. All of it counts as used when the turn's end is unknown. */
function readUse(details: unknown): { tokens?: number; cost_micro_usd?: number } {
  const { tokens, cost_micro_usd } = isRecord(details) ? details : {};
  return {
    ...(typeof tokens === 'number' && { tokens }),
    ...(typeof cost_micro_usd === 'number' && { cost_micro_usd }),
  };
}

function classifyTimeout(cause: TimeoutFailure, durationMs: number): CallFailed {
  const reserved = readUse(isRecord(cause.lastHeartbeatDetails) ? cause.lastHeartbeatDetails['reserved'] : null);
  switch (cause.timeoutType) {
    case TimeoutType.HEARTBEAT:
      return { ...lost(HEARTBEAT_LOST, 'unknown', 'the worker stopped answering', durationMs), ...reserved };
    case TimeoutType.SCHEDULE_TO_START:
      return lost('NO_WORKER', 'not_started', 'no worker took the call', durationMs);
    // The time from scheduling to the end may run out while a worker has the call.
    case TimeoutType.SCHEDULE_TO_CLOSE:
    case TimeoutType.START_TO_CLOSE:
    default:
      return {
        class: 'failed',
        certainty: 'unknown',
        origin: 'tool',
        category: 'timeout',
        error_code: 'TIMEOUT',
        message_preview: 'gave no answer before its timeout',
        ...reserved,
        duration_ms: durationMs,
      };
  }
}

function classifyApplicationFailure(cause: ApplicationFailure, durationMs: number): CallFailed {
  const details = cause.details?.[0];
  if (isCallFailed(details)) return details;
  switch (cause.type) {
    case 'WorkerShutdown':
      return lost('WORKER_SHUTDOWN', 'unknown', 'the worker was shut down', durationMs);
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

/** The certainty is `unknown`, because this kind of failure does not say whether the effect happened. */
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
