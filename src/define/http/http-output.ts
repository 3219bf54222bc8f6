import { z } from 'zod';
import { salientLine } from '../../core/failures/salient-line.ts';
import type { ToolContext } from '../define-tool.ts';
import { ToolError } from '../tool-error.ts';
import type { Certainty, ToolEffect } from '../../protocol/tools.ts';
import type { HttpAnswer } from './follow-redirects.ts';

/** The output of an `httpTool` that declares none. */
export const httpOutputSchema = z.object({
  status: z.int(),
  /** The URL that answered, after redirects. */
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  /** True if the body was cut because it was too long. */
  truncated: z.boolean(),
});
/** The output of an `httpTool` that declares none. */
export type HttpOutput = z.infer<typeof httpOutputSchema>;

/** The headers in the output. Dates and request ids are left out, because they would make equal answers look different. */
const OUTPUT_HEADERS = ['content-type', 'etag', 'last-modified', 'link', 'location'];
const HEADER_CHARS = 1_000;

/** Returns the output of the tool: the parsed JSON body, or status, headers and body text. */
export async function readHttpOutput(
  answer: HttpAnswer,
  context: ToolContext,
  how: { json: boolean; effect: ToolEffect },
): Promise<unknown> {
  const text = decodeBody(answer);
  if (how.json) return parseBody(text, how.effect);
  if (text.includes('\uFFFD')) await context.keep('body', answer.body);
  const told = OUTPUT_HEADERS.flatMap((name): [string, string][] => {
    const value = answer.headers[name];
    return typeof value === 'string' ? [[name, value.slice(0, HEADER_CHARS)]] : [];
  });
  const { origin, pathname, search } = answer.url;
  const output: HttpOutput = {
    status: answer.status,
    url: `${origin}${pathname}${search}`,
    headers: Object.fromEntries(told),
    body: text,
    truncated: answer.cut,
  };
  return output;
}

function parseBody(text: string, effect: ToolEffect): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const certainty = certaintyAfterSuccess(effect);
    throw new ToolError('the answer is not JSON', { category: 'contract_violation', code: 'BODY_NOT_JSON', certainty });
  }
}

function decodeBody({ headers, body }: HttpAnswer): string {
  const charset = /charset=["']?(?<name>[\w.:-]{1,40})/i.exec(headers['content-type'] ?? '')?.groups?.['name'];
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

/** An answer with an error status, with everything that the classifier can use. */
class HttpFailed extends Error {
  override readonly name = 'HttpFailed';
  readonly http_status: number;
  readonly headers: { 'retry-after'?: string };
  /** The `error` object of the body, in the format `{"error": {"type", "code"}}` of model providers. */
  readonly error: unknown;
  readonly certainty: Certainty | undefined;
  readonly said: string;

  constructor(answer: HttpAnswer, certainty: Certainty | undefined) {
    const said = decodeBody(answer);
    const line = salientLine(said);
    super(`HTTP ${answer.status} from ${answer.host}${line === '' ? '' : `: ${line}`}`);
    const retryAfter = answer.headers['retry-after'];
    this.http_status = answer.status;
    this.headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    this.error = errorIn(said);
    this.certainty = certainty;
    this.said = said;
  }
}

function errorIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
  } catch {
    return undefined;
  }
}

/** Statuses by which a server says that it refused the request and did nothing. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 413, 415, 422, 429]);

/** Throws unless the server answered with a success. `refusals` are further statuses that mean "nothing was done". */
export function assertSuccess(answer: HttpAnswer, effect: ToolEffect, refusals: readonly number[]): void {
  const { status } = answer;
  if (status < 200 || status > 299) throw new HttpFailed(answer, certaintyOfStatus(answer, effect, refusals));
  const encoding = answer.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  const certainty = certaintyAfterSuccess(effect);
  const how = { category: 'contract_violation', code: 'ENCODING_UNKNOWN', certainty } as const;
  throw new ToolError(
    `the answer has the content encoding ${encoding.slice(0, 40)}, which the request did not accept`,
    how,
  );
}

/** Every status but a refusal leaves it open whether a side effect happened: an error may come after the work. */
function certaintyOfStatus(
  { status, mayHaveActed }: HttpAnswer,
  effect: ToolEffect,
  refusals: readonly number[],
): Certainty | undefined {
  if (mayHaveActed) return 'unknown';
  if (effect !== 'side_effect') return undefined;
  return REFUSALS.has(status) || refusals.includes(status) ? 'failed' : 'unknown';
}

/** The server answered with a success: a side effect is done, and only its answer cannot be used. */
export const certaintyAfterSuccess = (effect: ToolEffect): Certainty => (effect === 'side_effect' ? 'done' : 'failed');
