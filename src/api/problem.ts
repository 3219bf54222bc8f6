import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { RequestProblem } from '../protocol/run.ts';

/** Every problem that this door can answer with. The name ends the `type` and is stable. */
const PROBLEMS = {
  bad_http: { status: 400, title: 'The request is not HTTP as it should be' },
  not_json: { status: 400, title: 'The body is not JSON' },
  bad_request: { status: 422, title: 'The request cannot be accepted as it is' },
  message_refused: { status: 422, title: 'The run does not take this message' },
  no_token: { status: 401, title: 'A token is needed' },
  weaker_role: { status: 403, title: 'The token does not allow this' },
  foreign_host: { status: 403, title: 'The request is addressed to another host' },
  foreign_origin: { status: 403, title: 'The request comes from a foreign page' },
  no_route: { status: 404, title: 'There is nothing at this address' },
  run_not_found: { status: 404, title: 'There is no such run' },
  run_exists: { status: 409, title: 'The run id is taken' },
  run_ended: { status: 409, title: 'The run has ended' },
  idempotency_conflict: { status: 409, title: 'The Idempotency-Key belongs to another request' },
  too_large: { status: 413, title: 'The body is too large' },
  internal: { status: 500, title: 'Something went wrong inside' },
  not_reachable: { status: 503, title: 'A part of the stack cannot be reached' },
  starting: { status: 503, title: 'The stack is starting' },
} as const satisfies Record<string, { status: ContentfulStatusCode; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code);
export const problemStatus = (code: ProblemCode): number => PROBLEMS[code].status;
const problemType = (code: ProblemCode): string => `urn:secondwind:problem:${code}`;

interface ProblemExtras {
  errors?: RequestProblem[];
  headers?: Record<string, string>;
  /** More members of the answer. */
  more?: Record<string, unknown>;
  cause?: unknown;
}

/** An answer that says no: what is wrong and what to do, as RFC 9457 writes it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.extras = extras;
  }

  toResponse(): Response {
    const { status, title } = PROBLEMS[this.code];
    const { errors, headers, more } = this.extras;
    const body = {
      type: problemType(this.code),
      title,
      status,
      detail: this.message,
      ...(errors && { errors }),
      ...more,
    };
    return new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/problem+json', ...headers },
    });
  }
}
