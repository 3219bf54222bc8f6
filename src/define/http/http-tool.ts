import type { OutgoingHttpHeaders } from 'node:http';
import { z } from 'zod';
import {
  DEFAULT_MAX_OUTPUT_BYTES,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from '../define-tool.ts';
import { ToolError } from '../tool-error.ts';
import type { Json } from '../../protocol/json.ts';
import type { Resolve } from './destination.ts';
import type { Sent } from './exchange.ts';
import { follow, isRead, withoutUser } from './follow.ts';
import { assertSuccess, type HttpOutput, httpOutputSchema, outputOf } from './http-output.ts';

export interface HttpRequest {
  /** GET by default. */
  method?: string;
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** In place of `body`: sent as JSON. */
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

export interface HttpToolDefinition<Input, Output> extends Pick<ToolDefinition<Input, Output>, SharedOption> {
  /** Without it the answer is `{status, url, headers, body, truncated}`; with it the body is JSON. */
  output?: z.ZodType<Output> | 'json';
  request: (input: Input, context: ToolContext) => HttpRequest;
  /** Addresses that are not on the public internet: none, all, or those of these hosts (`host` or `host:port`). */
  allowPrivate?: boolean | string[];
  /** A longer body is a failure. */
  maxBytes?: number;
  /** Finds the addresses of a host in place of DNS. */
  resolve?: Resolve;
}

const DEFAULT_MAX_BYTES = 1024 * 1024;
const JSON_GROWTH = 6;

/** Makes a tool of an HTTP request: one request per attempt, only to where it may go, with a truthful account of its end. */
export function httpTool<Input>(definition: HttpToolDefinition<Input, Json> & { output: 'json' }): Tool<Input, Json>;
export function httpTool<Input, Output = HttpOutput>(
  definition: HttpToolDefinition<Input, Output>,
): Tool<Input, Output>;
export function httpTool<Input, Output>(definition: HttpToolDefinition<Input, Output>): Tool<Input, Output> {
  const { request, allowPrivate = false, maxBytes = DEFAULT_MAX_BYTES, resolve, output, ...shared } = definition;
  return defineTool<Input, Output>({
    ...shared,
    output: outputSchema(output),
    maxOutputBytes: Math.max(DEFAULT_MAX_OUTPUT_BYTES, JSON_GROWTH * maxBytes + 10_000),
    run: async (input, context) => {
      const asked = request(input, context);
      const { constraints, signal } = context;
      const allowed = constraints.max_output_bytes ?? maxBytes;
      const limits = {
        maxBytes: Math.min(maxBytes, allowed),
        // A run that has been told to take less of it takes the start; half a JSON is none.
        cut: constraints.max_output_bytes !== undefined && output === undefined,
        ifTooLarge: definition.effect === 'side_effect' ? ('unknown' as const) : ('failed' as const),
        signal,
      };
      const sent = sentFor(asked, context.idempotencyKey);
      const answer = await follow(withoutUser(asked.url), sent, { allowPrivate, constraints, resolve }, limits);
      assertSuccess(answer, definition.effect);
      return (await outputOf(answer, context, { json: output !== undefined, effect: definition.effect })) as Output;
    },
  });
}

/** What Node and the connection decide, not the tool. */
const NOT_FOR_TOOLS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect']);

function sentFor(asked: HttpRequest, idempotencyKey: string): Sent {
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
    throw new ToolError(`${what} cannot be sent`, how);
  }
  const user = userOf(asked.url);
  const headers: OutgoingHttpHeaders = {
    'accept-encoding': 'identity',
    'user-agent': 'secondwind',
    ...(asked.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(isRead(method) ? {} : { 'idempotency-key': idempotencyKey }),
    ...(user === null ? {} : { authorization: user }),
    ...Object.fromEntries(given.filter(([name]) => !NOT_FOR_TOOLS.has(name))),
  };
  return { method, headers, body: asked.json === undefined ? asked.body : JSON.stringify(asked.json) };
}

/** `https://user:password@host/` is said in a header, and to that origin only. */
function userOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { username, password } = new URL(address);
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString('base64')}`;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const outputSchema = <Output>(output: z.ZodType<Output> | 'json' | undefined): z.ZodType<Output> => {
  // What the schema lets through is the Output that the definition names; without one it is ours.
  if (output === undefined) return httpOutputSchema as unknown as z.ZodType<Output>;
  return output === 'json' ? (z.json() as unknown as z.ZodType<Output>) : output;
};
