import { classifyError } from '../../core/retry/classify-error.ts';
import { readErrorFacts } from '../../core/retry/read-error-facts.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty } from '../../protocol/tools.ts';
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

/** Makes the error of a call that the server did not answer with a result. */
export function errorFromCall(error: unknown, server: string): ToolError {
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
    return make({ category: RPC_CODES[code] ?? 'unknown_error', certainty: 'failed' }, `MCP_${Math.abs(code)}`);
  }
  const known = typeof code === 'string' && Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (known !== undefined) return make(known, `MCP_${String(code)}`);
  const facts = readErrorFacts(error);
  const { category, certainty, error_code } = classifyError({ ...facts, code: undefined, ...systemCode(facts.code) });
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
export function errorFromResult(text: string, server: string): ToolError {
  const message = text.trim() === '' ? 'the tool failed without a message' : text;
  const { category, certainty } = classifyError({ message });
  const verdict: Verdict =
    category === 'unknown_error'
      ? { category: 'invalid_input', certainty: 'failed' }
      : { category, certainty: certainty === 'not_started' ? 'failed' : certainty };
  return new ToolError(`${server}: ${message}`, { ...verdict, code: 'MCP_TOOL_ERROR' });
}
