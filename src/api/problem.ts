import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { redactShown } from '../core/redaction/shown.ts';
import type { Redact } from '../core/redaction/redact.ts';
import type { RequestProblem } from '../protocol/run.ts';

/** Every problem that the API can answer with. The name is the end of `type` and never changes. */
const PROBLEMS = {
  bad_http: { status: 400, title: 'The request is not valid HTTP' },
  not_json: { status: 400, title: 'The body is not JSON' },
  no_token: { status: 401, title: 'A token is required' },
  weaker_role: { status: 403, title: 'The token does not allow this' },
  foreign_host: { status: 403, title: 'The request is for another host' },
  foreign_origin: { status: 403, title: 'The request comes from another origin' },
  no_route: { status: 404, title: 'There is no such route' },
  run_not_found: { status: 404, title: 'There is no such run' },
  no_guidance: { status: 404, title: 'No guidance was shown' },
  no_transcript: { status: 404, title: 'There is no transcript' },
  unknown_loop: { status: 404, title: 'There is no such loop' },
  decision_not_found: { status: 404, title: 'There is no such decision' },
  failure_not_found: { status: 404, title: 'There is no such failure' },
  artifact_not_found: { status: 404, title: 'There is no such artifact' },
  reflection_not_found: { status: 404, title: 'There is no such lesson' },
  no_method: { status: 405, title: 'This path does not allow this method' },
  slow_request: { status: 408, title: 'The request took too long to arrive' },
  run_exists: { status: 409, title: 'The run id is taken' },
  run_ended: { status: 409, title: 'The run has ended' },
  own_run: { status: 409, title: 'The run records its own failures' },
  not_repeatable: { status: 409, title: 'The run cannot be repeated' },
  limit_reached: { status: 409, title: 'The limit is reached' },
  family_taken: { status: 409, title: 'The name of the loop is taken' },
  idempotency_in_flight: { status: 409, title: 'The same request is in progress' },
  not_a_first_loop: { status: 409, title: 'This loop cannot start a family' },
  other_family: { status: 409, title: 'The loop belongs to another family' },
  loop_running: { status: 409, title: 'The loop is still running' },
  out_of_order: { status: 409, title: 'The loop is out of order' },
  other_body: { status: 409, title: 'The loop was reported with another body' },
  ended: { status: 409, title: 'The family has ended' },
  max_overrides: { status: 409, title: 'No override is left' },
  too_large: { status: 413, title: 'The body is too large' },
  bad_request: { status: 422, title: 'The request is invalid' },
  bad_cursor: { status: 422, title: 'The cursor does not belong to this list' },
  not_searchable: { status: 422, title: 'This list cannot be filtered here' },
  message_refused: { status: 422, title: 'The run refused the message' },
  idempotency_conflict: { status: 422, title: 'The Idempotency-Key was used with another request' },
  invalid_report: { status: 422, title: 'The report is invalid' },
  invalid_override: { status: 422, title: 'The override is invalid' },
  review_missing: { status: 422, title: 'A review is missing' },
  invalid_policy: { status: 422, title: 'The policy is invalid' },
  policy_fixed: { status: 409, title: 'The policy of the family is fixed' },
  max_reruns_fixed: { status: 422, title: 'max_reruns cannot be changed' },
  too_many: { status: 429, title: 'Too many requests' },
  large_head: { status: 431, title: 'The address or the headers are too large' },
  internal: { status: 500, title: 'Internal error' },
  encryption_key_missing: { status: 500, title: 'A key is missing to read this' },
  not_reachable: { status: 503, title: 'A part of the stack cannot be reached' },
  starting: { status: 503, title: 'The stack is starting' },
} as const satisfies Record<string, { status: ContentfulStatusCode; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
/** @internal Tests compare the documentation with it. */
export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];
export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code);
export const problemStatus = (code: ProblemCode): number => PROBLEMS[code].status;
const problemType = (code: ProblemCode): string => `urn:secondwind:problem:${code}`;

interface ProblemExtras {
  errors?: RequestProblem[];
  headers?: Record<string, string>;
  /** Additional fields of the answer. */
  more?: Record<string, unknown>;
  cause?: unknown;
}

/** A problem document (RFC 9457): what is wrong and what to do next. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.extras = extras;
  }

  toResponse(redact?: Redact): Response {
    const { status, headers, body } = this.toParts(redact);
    return new Response(body, { status, headers });
  }

  /** A problem can quote what was sent, so it is redacted like every answer. */
  toParts(redact: Redact = (text) => text): { status: number; headers: Record<string, string>; body: string } {
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
    return {
      status,
      headers: { 'content-type': 'application/problem+json', ...headers },
      body: JSON.stringify(redactShown(body, redact)),
    };
  }
}
