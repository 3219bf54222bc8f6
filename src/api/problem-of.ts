import { MessageRefusedError, RunRequestError, SecondwindError } from '../client/errors.ts';
import { isProblemCode, Problem } from './problem.ts';

/** gRPC's UNAVAILABLE and DEADLINE_EXCEEDED: nobody answered, so nobody said no. */
const NO_ANSWER = new Set<unknown>([14, 4]);

/** Whatever was thrown, as an answer. What nobody foresaw is told without its inside; the log has the rest. */
export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof SecondwindError && isProblemCode(error.code)) {
    const errors = errorsOf(error);
    // What is wrong with which field stands in `errors`; saying it twice would bury what to do.
    const detail = errors === undefined ? `${error.message} ${error.nextStep}` : error.nextStep;
    return new Problem(error.code, detail, { ...(errors && { errors }), cause: error });
  }
  if (isStoreOutage(error)) return notReachable('Postgres', error);
  if (isTemporalOutage(error)) return notReachable('Temporal', error);
  const detail = `Look for the request id ${requestId} in the log of the API; trying again may help.`;
  return new Problem('internal', detail, { cause: error, more: { request_id: requestId } });
}

const errorsOf = (error: SecondwindError) =>
  error instanceof RunRequestError ? error.problems : error instanceof MessageRefusedError ? error.errors : undefined;

const notReachable = (what: string, cause: unknown): Problem =>
  new Problem('not_reachable', `${what} does not answer. Try again; GET /readyz tells when it is back.`, {
    headers: { 'retry-after': '2' },
    cause,
  });

const isStoreOutage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORE_UNREACHABLE';

function isTemporalOutage(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ('code' in cause && NO_ANSWER.has(cause.code)) return true;
  }
  return false;
}
