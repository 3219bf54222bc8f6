import type { RequestProblem } from '../../protocol/run.ts';
import {
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
  runId?: string;
  /** A message to a run: what is wrong with it is a refusal of the message, as it is past this door. */
  isMessage?: boolean;
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
  const { runId = '', isMessage = false } = about;
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
      return isMessage ? new MessageRefusedError('bad_body', errors, cause) : new RunRequestError(errors, cause);
    case 'not_reachable':
    case 'starting':
      return new NotReachableError('A part of the stack', detail, cause);
  }
  const told = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const title = textOf(problem.title) || `The API answered ${status}`;
  return new SecondwindError(code, told === '' ? `${title}.` : `${title} (${told}).`, detail, cause);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const errorsOf = (value: unknown): RequestProblem[] =>
  Array.isArray(value)
    ? value.map((entry: { path?: unknown; message?: unknown }) => ({
        path: textOf(entry?.path),
        message: textOf(entry?.message),
      }))
    : [];
