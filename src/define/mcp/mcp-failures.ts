import { classifyError } from '../../core/retry/classify-error.ts';
import { factsOfError } from '../../core/retry/facts-of-error.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty } from '../../protocol/tools.ts';
import { ToolError } from '../tool-error.ts';

/** Thrown by the connection when it could not even be made: nothing was asked of the tool. */
export class McpUnreachable extends Error {
  override readonly name = 'McpUnreachable';
}

/** Of our own: an answer that the connection would not hold, with nobody else's call under way. */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE';

interface Verdict {
  category: FailureCategory;
  certainty: Certainty;
}

/** The codes of the MCP client. After a request has left, silence is no answer. */
const CODES: Readonly<Record<string, Verdict>> = {
  NOT_CONNECTED: { category: 'network', certainty: 'not_started' },
  CONNECTION_CLOSED: { category: 'network', certainty: 'unknown' },
  SEND_FAILED: { category: 'network', certainty: 'unknown' },
  REQUEST_TIMEOUT: { category: 'timeout', certainty: 'unknown' },
  INVALID_RESULT: { category: 'contract_violation', certainty: 'unknown' },
  CLIENT_HTTP_UNEXPECTED_CONTENT: { category: 'contract_violation', certainty: 'unknown' },
  CLIENT_HTTP_AUTHENTICATION: { category: 'auth', certainty: 'failed' },
  CLIENT_HTTP_FORBIDDEN: { category: 'auth', certainty: 'failed' },
  // The tool did its work and asking for the same again gives the same.
  [ANSWER_TOO_LARGE]: { category: 'invalid_input', certainty: 'unknown' },
};

/** JSON-RPC: the server answered that it will not. */
const RPC_CODES: Readonly<Record<number, FailureCategory>> = {
  [-32_700]: 'invalid_input',
  [-32_600]: 'invalid_input',
  [-32_601]: 'invalid_input',
  [-32_602]: 'invalid_input',
  [-32_603]: 'server_error',
};

/** A call that the server did not answer with a result. */
export function errorOfCall(error: unknown, server: string): ToolError {
  const message = `${server}: ${error instanceof Error ? error.message : String(error)}`;
  const code = (error as { code?: unknown } | null)?.code;
  // Without the cause: its status would speak louder than the verdict.
  const make = ({ category, certainty }: Verdict, errorCode: string): ToolError =>
    new ToolError(message, { category, certainty, code: errorCode });

  if (error instanceof McpUnreachable) {
    const { category } = classifyError(factsOfError(error.cause));
    const known = category === 'unknown_error' ? 'network' : category;
    return make({ category: known, certainty: 'not_started' }, 'MCP_UNREACHABLE');
  }
  if (isSessionGone(error)) return make({ category: 'network', certainty: 'not_started' }, 'MCP_SESSION_GONE');
  if (typeof code === 'number') {
    return make({ category: RPC_CODES[code] ?? 'unknown_error', certainty: 'failed' }, `MCP_${Math.abs(code)}`);
  }
  const known = typeof code === 'string' && Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (known !== undefined) return make(known, `MCP_${String(code)}`);
  const facts = factsOfError(error);
  const { category, certainty, error_code } = classifyError({ ...facts, code: undefined, ...systemCode(facts.code) });
  // Nothing definite was said, and the request may have left.
  return make({ category, certainty: category === 'unknown_error' ? 'unknown' : certainty }, error_code);
}

/** The client's own codes are no codes of the system. */
const systemCode = (code: unknown): { code?: string } =>
  typeof code === 'string' && !code.startsWith('CLIENT_HTTP_') ? { code } : {};

/** An HTTP server that was started again knows nothing of the session, and did nothing with the call. */
export function isSessionGone(error: unknown): boolean {
  const { status, message } = (error ?? {}) as { status?: unknown; message?: unknown };
  if (status === 404) return true;
  return status === 400 && typeof message === 'string' && /session|not initialized/i.test(message);
}

/**
 * The tool ran and says that it failed: MCP means such words for the model, which may call it otherwise. Only words that tell of
 * something else, such as a busy server, lead to another attempt of the same call.
 */
export function errorOfResult(text: string, server: string): ToolError {
  const message = text.trim() === '' ? 'the tool failed without a word' : text;
  const { category, certainty } = classifyError({ message });
  const verdict: Verdict =
    category === 'unknown_error'
      ? { category: 'invalid_input', certainty: 'failed' }
      : { category, certainty: certainty === 'not_started' ? 'failed' : certainty };
  return new ToolError(`${server}: ${message}`, { ...verdict, code: 'MCP_TOOL_ERROR' });
}
