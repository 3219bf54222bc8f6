import type { RequestProblem } from '../../protocol/run.ts';
import { GUARD_NEXT_STEP, GuardRefusedError, isGuardProblem } from '../guard-errors.ts';
import {
  FamilyTakenError,
  IdempotencyConflictError,
  MessageRefusedError,
  NotReachableError,
  RunEndedError,
  RunExistsError,
  RunNotFoundError,
  RunRequestError,
  SecondwindError,
} from '../../protocol/errors.ts';

/** The subject of a call, for its error. */
export interface ProblemSubject {
  runId?: string | undefined;
  loopId?: string | undefined;
  /** True for a message to a run: an invalid one is then a `MessageRefusedError`, as it is over Temporal. */
  isMessage?: boolean;
  /** For a message to a guard: an invalid one is then a `GuardRefusedError` with this problem, as it is over Temporal. */
  refusedAs?: 'invalid_report' | 'invalid_override' | 'invalid_policy';
}

/** A problem document (RFC 9457), as the API sends it. */
interface ProblemBody {
  type?: unknown;
  title?: unknown;
  detail?: unknown;
  errors?: unknown;
}

const TYPE = 'urn:secondwind:problem:';

/** Converts a problem document to the error that the same mistake has over Temporal. The document is its cause. */
export function toError(status: number, body: unknown, about: ProblemSubject = {}): SecondwindError {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as ProblemBody;
  const type = asText(problem.type);
  const code = type.startsWith(TYPE) ? type.slice(TYPE.length) : 'unexpected_answer';
  const cause = { status, ...problem };
  const detail = asText(problem.detail);
  const errors = readProblems(problem.errors);
  const { runId = '', loopId = 'of its loops', isMessage = false, refusedAs } = about;
  switch (code) {
    case 'run_exists':
      return new RunExistsError(runId, cause);
    case 'run_not_found':
      return new RunNotFoundError(runId, cause);
    case 'run_ended':
      return new RunEndedError(runId, cause);
    case 'message_refused':
      return new MessageRefusedError('bad_body', errors, cause);
    case 'limit_reached':
      return new MessageRefusedError('limit_reached', [{ path: '$', message: detail }], cause);
    case 'bad_request':
      if (errors.length === 0) break;
      if (refusedAs !== undefined) return toRefusal(refusedAs, detail, errors, cause);
      return isMessage ? new MessageRefusedError('bad_body', errors, cause) : new RunRequestError(errors, cause);
    case 'idempotency_conflict':
      return new IdempotencyConflictError(cause);
    case 'family_taken':
      return new FamilyTakenError(loopId, 'another run or guard', cause);
    case 'not_reachable':
    case 'starting':
      return new NotReachableError('A part of the stack', detail, cause);
  }
  if (isGuardProblem(code)) return toRefusal(code, detail, errors, cause);
  const told = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const title = asText(problem.title) || `The API answered ${status}`;
  return new SecondwindError(code, told === '' ? `${title}.` : `${title} (${told}).`, detail, cause);
}

const toRefusal = (
  problem: GuardRefusedError['problem'],
  detail: string,
  errors: RequestProblem[],
  cause: unknown,
): GuardRefusedError =>
  new GuardRefusedError(
    {
      problem,
      // The API appends the next step to the detail; the error has it in a field of its own.
      detail: detail.replace(GUARD_NEXT_STEP[problem], '').trim(),
      errors,
    },
    cause,
  );

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

const readProblems = (value: unknown): RequestProblem[] =>
  Array.isArray(value)
    ? value.map((entry: { path?: unknown; message?: unknown }) => ({
        path: asText(entry?.path),
        message: asText(entry?.message),
      }))
    : [];
