import { MessageRefusedError, NotReachableError, RunRequestError, SecondwindError } from '../protocol/errors.ts';
import { GuardRefusedError } from '../client/guard-errors.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { joinSentences } from '../protocol/well-formed-text.ts';
import { isProblemCode, Problem } from './problem.ts';

const RETRY_SOON = { 'retry-after': '2' };
const LIMIT_NEXT = 'Start a new run, or let this one end.';

/** Converts any error to a problem. An unexpected error reveals no details; the log has them. */
export function toProblem(error: unknown, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof SecondwindError && isProblemCode(error.code)) {
    const errors = problemErrors(error);
    // A message over a limit conflicts with earlier messages and is valid by itself, so it is a 409.
    if (error instanceof MessageRefusedError && error.problem === 'limit_reached')
      return new Problem('limit_reached', joinSentences(error.message, LIMIT_NEXT), { cause: error });
    // `errors` already says what is wrong with each field, so the detail has only the next step.
    const detail = errors === undefined ? joinSentences(error.message, error.nextStep) : error.nextStep;
    const headers = error instanceof NotReachableError ? { headers: RETRY_SOON } : {};
    return new Problem(error.code, detail, { ...(errors && { errors }), ...headers, cause: error });
  }
  if (isStoreInput(error)) {
    const message = error.message.replace(`${error.path}: `, '');
    return new Problem('bad_request', 'Correct the named fields.', {
      errors: [{ path: error.path, message }],
      cause: error,
    });
  }
  if (isStoreOutage(error)) {
    return new Problem(
      'not_reachable',
      'Postgres does not answer. Try again later; GET /readyz shows when it is back.',
      {
        headers: RETRY_SOON,
        cause: error,
      },
    );
  }
  const detail = `Look for the request id ${requestId} in the log of the API, or try again.`;
  return new Problem('internal', detail, { cause: error, more: { request_id: requestId } });
}

function problemErrors(error: SecondwindError): RequestProblem[] | undefined {
  if (error instanceof RunRequestError) return error.problems;
  if (error instanceof MessageRefusedError) return error.errors;
  return error instanceof GuardRefusedError && error.errors.length > 0 ? error.errors : undefined;
}

const isStoreInput = (error: unknown): error is Error & { path: string } =>
  error instanceof Error && 'code' in error && error.code === 'STORE_INPUT' && 'path' in error;

const isStoreOutage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORE_UNREACHABLE';
