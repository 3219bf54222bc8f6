import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty } from '../../protocol/tools.ts';

export interface Verdict {
  category: FailureCategory;
  certainty: Certainty;
}
export const verdict = (category: FailureCategory, certainty: Certainty = 'failed'): Verdict => ({
  category,
  certainty,
});

const buildTable = (rows: [Verdict, string][]): ReadonlyMap<string, Verdict> =>
  new Map(rows.flatMap(([row, names]) => names.split(' ').map((name): [string, Verdict] => [name, row])));

/**
 * Error codes of Node and undici. Before a connection is established nothing was sent; after that, a missing answer
 * leaves the outcome unknown.
 */
export const SYSTEM_CODES = buildTable([
  [verdict('network', 'not_started'), 'ECONNREFUSED ENOTFOUND EAI_AGAIN EAI_FAIL EHOSTUNREACH EHOSTDOWN ENETUNREACH'],
  [verdict('network', 'not_started'), 'ENETDOWN EADDRNOTAVAIL EPROTO'],
  [verdict('network', 'unknown'), 'ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET ERR_STREAM_PREMATURE_CLOSE'],
  [verdict('timeout', 'not_started'), 'UND_ERR_CONNECT_TIMEOUT'],
  [verdict('timeout', 'unknown'), 'ETIMEDOUT ESOCKETTIMEDOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT'],
  [verdict('auth', 'not_started'), 'CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN'],
  [verdict('auth', 'not_started'), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID'],
  [verdict('invalid_input', 'not_started'), 'ERR_INVALID_URL'],
]);

/** Codes of a program that could not be started. Waiting does not help. */
export const SPAWN_CODES: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'E2BIG', 'ENOTDIR']);

/** Error types of providers that are more precise than the HTTP status: OpenAI also uses 429 for an unpaid bill. */
export const DECISIVE_TYPES = buildTable([
  [verdict('quota'), 'insufficient_quota billing_error billing_hard_limit_reached billing_not_active quotaexceeded'],
  [verdict('quota'), 'dailylimitexceeded'],
  [verdict('rate_limit'), 'rate_limit_exceeded rate_limit_error ratelimitexceeded userratelimitexceeded'],
  [verdict('context_length'), 'context_length_exceeded string_above_max_length request_too_large'],
  [verdict('content_filter'), 'content_filter content_policy_violation responsibleaipolicyviolation'],
  [verdict('auth'), 'invalid_api_key api_key_invalid authentication_error permission_error access_terminated'],
]);

/** General error types. A status or a message is better evidence than these. */
export const GENERAL_TYPES = buildTable([
  [verdict('server_error'), 'api_error server_error overloaded_error unavailable internal'],
  [verdict('timeout', 'unknown'), 'timeout_error deadline_exceeded'],
  [verdict('rate_limit'), 'resource_exhausted'],
  [verdict('auth'), 'unauthenticated permission_denied'],
  [verdict('invalid_input'), 'invalid_request_error invalid_argument not_found_error not_found model_not_found'],
  [verdict('invalid_input'), 'failed_precondition out_of_range'],
]);

/** Gateway statuses. The gateway cannot know whether the server behind it did the work. */
const UNKNOWN_STATUSES: ReadonlySet<number> = new Set([502, 504, 520, 522, 523, 524]);

export const classifyStatus = (status: number): Verdict | null => {
  if (status === 401 || status === 403 || status === 407) return verdict('auth');
  if (status === 402) return verdict('quota');
  if (status === 408) return verdict('timeout');
  if (status === 413) return verdict('context_length');
  if (status === 429) return verdict('rate_limit');
  if (status >= 400 && status <= 499) return verdict('invalid_input');
  if (status >= 500 && status <= 599)
    return verdict('server_error', UNKNOWN_STATUSES.has(status) ? 'unknown' : 'failed');
  return null;
};

/** Exit codes with the same meaning in shells, timeout(1) and sysexits.h. */
export const EXIT_CODES: ReadonlyMap<number, Verdict> = new Map([
  [64, verdict('invalid_input')],
  [65, verdict('invalid_input')],
  [69, verdict('server_error')],
  [75, verdict('server_error')],
  [77, verdict('auth')],
  [78, verdict('invalid_input')],
  [124, verdict('timeout', 'unknown')],
  [126, verdict('invalid_input')],
  [127, verdict('invalid_input')],
]);
