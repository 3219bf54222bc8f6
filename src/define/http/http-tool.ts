import type { OutgoingHttpHeaders } from 'node:http';
import { z } from 'zod';
import {
  DEFAULT_MAX_OUTPUT_BYTES,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from '../define-tool.ts';
import { stateCertainty, ToolError } from '../tool-error.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { Certainty } from '../../protocol/tools.ts';
import type { Resolve } from './destination.ts';
import type { Sent } from './exchange.ts';
import { followRedirects, isRead, withoutUser } from './follow-redirects.ts';
import {
  assertSuccess,
  certaintyAfterSuccess,
  type HttpOutput,
  httpOutputSchema,
  readHttpOutput,
} from './http-output.ts';

/** One HTTP request, as the function `request` of an HTTP tool returns it. */
export interface HttpRequest {
  /** Default: GET. */
  method?: string;
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** A value to send as JSON, instead of `body`. */
  json?: Json;
}

type SharedOption =
  | 'name'
  | 'description'
  | 'effect'
  | 'kind'
  | 'minConfidence'
  | 'input'
  | 'timeoutMs'
  | 'detect'
  | 'queryOf'
  | 'loopKey'
  | 'probe'
  | 'evaluates'
  | 'secrets'
  | 'approval'
  | 'reconcile';

/** The argument of `httpTool`. */
export interface HttpToolDefinition<Input, Output> extends Pick<ToolDefinition<Input, Output>, SharedOption> {
  /** The schema of the JSON body, or `json` for any JSON. Without it the output is `{status, url, headers, body, truncated}`. */
  output?: z.ZodType<Output> | 'json';
  request: (input: Input, context: ToolContext) => HttpRequest;
  /** Allows addresses that are not on the public internet: all (true), or those of the listed hosts. Default: none. */
  allowPrivate?: boolean | string[];
  /** The most bytes of a body; more is a failure. Default: 1 MB. */
  maxBytes?: number;
  /**
   * Statuses, beside 400, 401, 403, 404, 405, 413, 415, 422 and 429, by which this server says that it did nothing. After any
   * other status a side effect counts as unknown.
   */
  refusals?: readonly number[];
  /** Resolves host names instead of DNS. */
  resolve?: Resolve;
}

const DEFAULT_MAX_BYTES = 1024 * 1024;
const JSON_GROWTH = 6;

/**
 * Defines a tool that sends one HTTP request per attempt. It follows up to 5 redirects and refuses hosts that are not on the public
 * internet, unless `allowPrivate` names them. A failure says whether the request may have had an effect.
 *
 * Returns the tool. Throws a `TypeError` like `defineTool`.
 *
 * @example
 * ```ts
 * const weather = httpTool({
 *   name: 'weather',
 *   effect: 'read',
 *   input: z.object({ city: z.string() }),
 *   output: 'json',
 *   request: ({ city }) => ({ url: `https://api.example.com/weather?city=${encodeURIComponent(city)}` }),
 * });
 * ```
 */
export function httpTool<Input>(definition: HttpToolDefinition<Input, Json> & { output: 'json' }): Tool<Input, Json>;
export function httpTool<Input, Output = HttpOutput>(
  definition: HttpToolDefinition<Input, Output>,
): Tool<Input, Output>;
export function httpTool<Input, Output>(definition: HttpToolDefinition<Input, Output>): Tool<Input, Output> {
  const {
    request,
    allowPrivate = false,
    maxBytes = DEFAULT_MAX_BYTES,
    refusals = [],
    resolve,
    output,
    ...shared
  } = definition;
  const send = async (asked: HttpRequest, context: ToolContext): Promise<unknown> => {
    const { constraints, signal } = context;
    const allowed = constraints.max_output_bytes ?? maxBytes;
    const limits = {
      maxBytes: Math.min(maxBytes, allowed),
      // With a constraint on the size, the start of a text body is enough. JSON cannot be cut.
      cut: constraints.max_output_bytes !== undefined && output === undefined,
      ifTooLarge: certaintyAfterSuccess(definition.effect),
      signal,
      beforeSending: () => context.throwIfExpired(),
    };
    const sent = buildRequest(asked, context);
    const answer = await followRedirects(withoutUser(asked.url), sent, { allowPrivate, constraints, resolve }, limits);
    assertSuccess(answer, definition.effect, refusals);
    return readHttpOutput(answer, context, { json: output !== undefined, effect: definition.effect });
  };
  return defineTool<Input, Output>({
    ...shared,
    output: outputSchema(output),
    maxOutputBytes: Math.max(DEFAULT_MAX_OUTPUT_BYTES, JSON_GROWTH * maxBytes + 10_000),
    run: async (input, context) => {
      const asked = beforeSending(definition.name, () => request(input, context));
      try {
        return (await send(asked, context)) as Output;
      } catch (error) {
        // Each failure on the way says by itself what had left; without a word of it nothing is known.
        throw stateCertainty(error, (error as { certainty?: Certainty } | null)?.certainty, definition.name);
      }
    },
  });
}

/** Nothing has left yet, whatever the tool's own function throws. */
function beforeSending<T>(tool: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw stateCertainty(error, 'not_started', tool);
  }
}

/** Headers that Node sets for the connection. A tool cannot set them. */
const RESERVED_HEADERS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect']);

function buildRequest(asked: HttpRequest, { idempotencyKey, fence }: ToolContext): Sent {
  const method = (asked.method ?? 'GET').toUpperCase();
  const given = Object.entries(asked.headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ]);
  const badHeader = given.find(
    ([name, value]) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value),
  );
  if (!/^[A-Z]{1,20}$/.test(method) || method === 'CONNECT' || badHeader !== undefined) {
    const what =
      badHeader === undefined ? `the method ${method.slice(0, 20)}` : `the header ${badHeader[0].slice(0, 60)}`;
    const how = { category: 'invalid_input', code: 'BAD_REQUEST', certainty: 'not_started' } as const;
    throw new ToolError(`${what} is invalid or not allowed`, how);
  }
  const user = basicAuthorization(asked.url);
  const headers: OutgoingHttpHeaders = {
    'accept-encoding': 'identity',
    'user-agent': 'secondwind',
    ...(asked.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(isRead(method) ? {} : { 'idempotency-key': idempotencyKey, 'secondwind-fence': String(fence) }),
    ...defined({ authorization: user ?? undefined }),
    ...Object.fromEntries(given.filter(([name]) => !RESERVED_HEADERS.has(name))),
  };
  return { method, headers, body: asked.json === undefined ? asked.body : JSON.stringify(asked.json) };
}

/** User and password in a URL become an `Authorization` header, which only that origin gets. */
function basicAuthorization(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { username, password } = new URL(address);
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${decodePart(username)}:${decodePart(password)}`).toString('base64')}`;
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const outputSchema = <Output>(output: z.ZodType<Output> | 'json' | undefined): z.ZodType<Output> => {
  // Without a schema, Output defaults to HttpOutput, which TypeScript cannot know here.
  if (output === undefined) return httpOutputSchema as unknown as z.ZodType<Output>;
  return output === 'json' ? (z.json() as unknown as z.ZodType<Output>) : output;
};
