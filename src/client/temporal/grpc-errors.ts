import { isGrpcServiceError } from '@temporalio/client';
import { NotReachableError, SecondwindError } from '../../protocol/errors.ts';

/** The gRPC codes that are handled here. The SDK does not export them. */
const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;

const hasCode = (error: unknown, wanted: number): boolean => {
  if (!isGrpcServiceError(error)) return false;
  const code: number = error.code;
  return code === wanted;
};

export const isInvalidArgument = (error: unknown): boolean => hasCode(error, INVALID_ARGUMENT);
export const isNotFound = (error: unknown): boolean => hasCode(error, NOT_FOUND);
/** Whether an answer was larger than a server or the client accepts. Too many requests have the same code. */
export const isTooLarge = (error: unknown): boolean => hasCode(error, RESOURCE_EXHAUSTED);
/**
 * Whether a call with a deadline ended because of it. The SDK may have wrapped the error. A few calls in a hundred end as
 * cancelled instead, when the client's own timer ends them first.
 */
export const isDeadline = (error: unknown): boolean =>
  hasCode(error, DEADLINE_EXCEEDED) ||
  hasCode(error, CANCELLED) ||
  (error instanceof Error && error.cause !== undefined && isDeadline(error.cause));

const NO_ANSWER = new Set<unknown>([UNAVAILABLE, DEADLINE_EXCEEDED]);

/** Converts the error of a Temporal or a store that did not answer to `NotReachableError`. Returns other errors unchanged. */
export function toSecondwindError(error: unknown): unknown {
  if (error instanceof SecondwindError) return error;
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if (!('code' in cause)) continue;
    if (NO_ANSWER.has(cause.code)) return notReachable('Temporal', error);
    if (cause.code === 'STORE_UNREACHABLE') return notReachable('Postgres', error);
  }
  return error;
}

const notReachable = (what: string, cause: unknown): NotReachableError =>
  new NotReachableError(what, 'Make sure that it runs, and try again.', cause);
