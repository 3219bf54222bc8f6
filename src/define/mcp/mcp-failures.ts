import { classifyError } from '../../core/retry/classify-error.ts';
import { readErrorFacts } from '../../core/retry/read-error-facts.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty, ToolEffect } from '../../protocol/tools.ts';
import { ToolError } from '../tool-error.ts';

/** The connection could not be opened, so the tool was not called. */
export class McpUnreachable extends Error {
  override readonly name = 'McpUnreachable';
}

/** Our own code for an answer that exceeded the largest message, with no other call in progress. */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE';

interface Verdict {
  category: FailureCategory;
  certainty: Certainty;
}

/** The error codes of the MCP client. Once a request was sent, a missing answer means that the effect is unknown. */
const CODES: Readonly<Record<string, Verdict>> = {
  NOT_CONNECTED: { category: 'network', certainty: 'not_started' },
  CONNECTION_CLOSED: { category: 'network', certainty: 'unknown' },
  SEND_FAILED: { category: 'network', certainty: 'unknown' },
  REQUEST_TIMEOUT: { category: 'timeout', certainty: 'unknown' },
  INVALID_RESULT: { category: 'contract_violation', certainty: 'unknown' },
  CLIENT_HTTP_UNEXPECTED_CONTENT: { category: 'contract_violation', certainty: 'unknown' },
  CLIENT_HTTP_AUTHENTICATION: { category: 'auth', certainty: 'failed' },
  CLIENT_HTTP_FORBIDDEN: { category: 'auth', certainty: 'failed' },
  // The tool did its work, and the same call would give the same answer again.
  [ANSWER_TOO_LARGE]: { category: 'invalid_input', certainty: 'unknown' },
};

/** JSON-RPC error codes: the server refused the call. */
const RPC_CODES: Readonly<Record<number, FailureCategory>> = {
  [-32_700]: 'invalid_input',
  [-32_600]: 'invalid_input',
  [-32_601]: 'invalid_input',
  [-32_602]: 'invalid_input',
  [-32_603]: 'server_error',
};
/** Of these the server says that it could not make sense of the request. After any other code the tool may have run. */
const RPC_REFUSALS: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602]);
/** HTTP statuses by which a server says that it did not take the request. */
const HTTP_REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 413, 415, 422, 429]);

/** Makes the error of a call that the server did not answer with a result. */
export function errorFromCall(error: unknown, server: string, effect: ToolEffect): ToolError {
  const message = `${server}: ${error instanceof Error ? error.message : String(error)}`;
  const code = (error as { code?: unknown } | null)?.code;
  // The cause is left out, because the classifier would prefer its status to this category.
  const make = ({ category, certainty }: Verdict, errorCode: string): ToolError =>
    new ToolError(message, { category, certainty, code: errorCode });

  if (error instanceof McpUnreachable) {
    const { category } = classifyError(readErrorFacts(error.cause));
    const known = category === 'unknown_error' ? 'network' : category;
    return make({ category: known, certainty: 'not_started' }, 'MCP_UNREACHABLE');
  }
  if (isSessionGone(error)) return make({ category: 'network', certainty: 'not_started' }, 'MCP_SESSION_GONE');
  if (typeof code === 'number') {
    const certainty = effect !== 'side_effect' || RPC_REFUSALS.has(code) ? 'failed' : 'unknown';
    return make({ category: RPC_CODES[code] ?? 'unknown_error', certainty }, `MCP_${Math.abs(code)}`);
  }
  const known = typeof code === 'string' && Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (known !== undefined) return make(known, `MCP_${String(code)}`);
  const facts = readErrorFacts(error);
  const { category, certainty, error_code } = classifyError({ ...facts, code: undefined, ...systemCode(facts.code) });
  if (effect === 'side_effect') {
    const isRefused = facts.http_status !== undefined && HTTP_REFUSALS.has(facts.http_status);
    return make({ category, certainty: isRefused ? 'failed' : 'unknown' }, error_code);
  }
  // An unknown error does not say whether the request was sent.
  return make({ category, certainty: category === 'unknown_error' ? 'unknown' : certainty }, error_code);
}

/** Keeps system codes such as ECONNREFUSED and drops the client's own codes. */
const systemCode = (code: unknown): { code?: string } =>
  typeof code === 'string' && !code.startsWith('CLIENT_HTTP_') ? { code } : {};

/** Whether a restarted HTTP server does not know the session any more. It has then not acted on the call. */
export function isSessionGone(error: unknown): boolean {
  const { status, message } = (error ?? {}) as { status?: unknown; message?: unknown };
  if (status === 404) return true;
  return status === 400 && typeof message === 'string' && /session|not initialized/i.test(message);
}

/**
 * Makes the error of a tool that ran and reports a failure. In MCP such a text is meant for the model, which may then call the tool
 * differently. The same call is retried only if the text names a passing problem, such as a busy server.
 */
export function errorFromResult(text: string, server: string, effect: ToolEffect): ToolError {
  const message = text.trim() === '' ? 'the tool failed without a message' : text;
  const { category, certainty } = classifyError({ message });
  const verdict: Verdict =
    category === 'unknown_error'
      ? { category: 'invalid_input', certainty: 'failed' }
      : { category, certainty: certainty === 'not_started' ? 'failed' : certainty };
  // The tool ran, and its words do not prove that it did nothing before it failed.
  const known = effect === 'side_effect' ? { ...verdict, certainty: 'unknown' as const } : verdict;
  return new ToolError(`${server}: ${message}`, { ...known, code: 'MCP_TOOL_ERROR' });
}
