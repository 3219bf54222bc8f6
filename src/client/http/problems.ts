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

/** What a call was about. */
export interface ProblemOf {
  runId?: string | undefined;
  loopId?: string | undefined;
  /** A message to a run: an invalid one is a refused message, as it is over Temporal. */
  isMessage?: boolean;
  /** A message to a guard: an invalid one is refused by the guard, as it is over Temporal. */
  refusedAs?: 'invalid_report' | 'invalid_override';
}

/** RFC 9457, as the API writes it. */
interface ProblemBody {
  type?: unknown;
  title?: unknown;
  detail?: unknown;
  errors?: unknown;
}

const TYPE = 'urn:secondwind:problem:';

/** The error class that the same mistake has without HTTP; the answer itself is its cause. */
export function errorOfProblem(status: number, body: unknown, about: ProblemOf = {}): SecondwindError {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as ProblemBody;
  const type = textOf(problem.type);
  const code = type.startsWith(TYPE) ? type.slice(TYPE.length) : 'unexpected_answer';
  const cause = { status, ...problem };
  const detail = textOf(problem.detail);
  const errors = errorsOf(problem.errors);
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
      if (refusedAs !== undefined) return refusalOf(refusedAs, detail, errors, cause);
      return isMessage ? new MessageRefusedError('bad_body', errors, cause) : new RunRequestError(errors, cause);
    case 'idempotency_conflict':
      return new IdempotencyConflictError(cause);
    case 'family_taken':
      return new FamilyTakenError(loopId, 'another run or guard', cause);
    case 'not_reachable':
    case 'starting':
      return new NotReachableError('A part of the stack', detail, cause);
  }
  if (isGuardProblem(code)) return refusalOf(code, detail, errors, cause);
  const told = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const title = textOf(problem.title) || `The API answered ${status}`;
  return new SecondwindError(code, told === '' ? `${title}.` : `${title} (${told}).`, detail, cause);
}

const refusalOf = (
  problem: GuardRefusedError['problem'],
  detail: string,
  errors: RequestProblem[],
  cause: unknown,
): GuardRefusedError =>
  new GuardRefusedError(
    {
      problem,
      // The API ends its detail with the next step, which the error names by itself.
      detail: detail.replace(GUARD_NEXT_STEP[problem], '').trim(),
      errors,
    },
    cause,
  );

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const errorsOf = (value: unknown): RequestProblem[] =>
  Array.isArray(value)
    ? value.map((entry: { path?: unknown; message?: unknown }) => ({
        path: textOf(entry?.path),
        message: textOf(entry?.message),
      }))
    : [];
