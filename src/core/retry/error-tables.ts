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

const tableOf = (rows: [Verdict, string][]): ReadonlyMap<string, Verdict> =>
  new Map(rows.flatMap(([row, names]) => names.split(' ').map((name): [string, Verdict] => [name, row])));

/** Node's and undici's codes. Before a connection stands nothing was asked; after it, silence is no answer. */
export const SYSTEM_CODES = tableOf([
  [verdict('network', 'not_started'), 'ECONNREFUSED ENOTFOUND EAI_AGAIN EAI_FAIL EHOSTUNREACH EHOSTDOWN ENETUNREACH'],
  [verdict('network', 'not_started'), 'ENETDOWN EADDRNOTAVAIL EPROTO'],
  [verdict('network', 'unknown'), 'ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET ERR_STREAM_PREMATURE_CLOSE'],
  [verdict('timeout', 'not_started'), 'UND_ERR_CONNECT_TIMEOUT'],
  [verdict('timeout', 'unknown'), 'ETIMEDOUT ESOCKETTIMEDOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT'],
  [verdict('auth', 'not_started'), 'CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN'],
  [verdict('auth', 'not_started'), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID'],
  [verdict('invalid_input', 'not_started'), 'ERR_INVALID_URL'],
]);

/** A program that could not even be started: no wait makes it appear. */
export const SPAWN_CODES: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'E2BIG', 'ENOTDIR']);

/** Words of providers that say more than the status beside them: OpenAI's 429 is also a bill that was not paid. */
export const DECISIVE_TYPES = tableOf([
  [verdict('quota'), 'insufficient_quota billing_error billing_hard_limit_reached billing_not_active quotaexceeded'],
  [verdict('quota'), 'dailylimitexceeded'],
  [verdict('rate_limit'), 'rate_limit_exceeded rate_limit_error ratelimitexceeded userratelimitexceeded'],
  [verdict('context_length'), 'context_length_exceeded string_above_max_length request_too_large'],
  [verdict('content_filter'), 'content_filter content_policy_violation responsibleaipolicyviolation'],
  [verdict('auth'), 'invalid_api_key api_key_invalid authentication_error permission_error access_terminated'],
]);

/** Words that only name a family; a status or a message beside them is better evidence. */
export const GENERAL_TYPES = tableOf([
  [verdict('server_error'), 'api_error server_error overloaded_error unavailable internal'],
  [verdict('timeout', 'unknown'), 'timeout_error deadline_exceeded'],
  [verdict('rate_limit'), 'resource_exhausted'],
  [verdict('auth'), 'unauthenticated permission_denied'],
  [verdict('invalid_input'), 'invalid_request_error invalid_argument not_found_error not_found model_not_found'],
  [verdict('invalid_input'), 'failed_precondition out_of_range'],
]);

/** A gateway that got no answer cannot say whether the server behind it did the work. */
const UNKNOWN_STATUSES: ReadonlySet<number> = new Set([502, 504, 520, 522, 523, 524]);

export const verdictOfStatus = (status: number): Verdict | null => {
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

/** Codes that shells, timeout(1) and sysexits.h agree on. */
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
