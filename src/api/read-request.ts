import type { z } from 'zod';
import { problemsOf } from '../define/zod-problems.ts';
import { isId, sha256Hex } from '../protocol/ids.ts';
import { type MessageBody, type MessageType, parseMessage } from '../protocol/messages.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { within } from '../protocol/within.ts';
import type { ApiContext } from './api-context.ts';
import { Problem, type ProblemCode } from './problem.ts';

/** Reads the run id of the path. A text that cannot be a run id is refused without asking Temporal. */
export const readRunId = (c: ApiContext): string =>
  readId(c, 'run_id', 'run_not_found', 'This is not a valid run id. Check the id.');

export function readId(c: ApiContext, name: string, problem: ProblemCode, detail: string): string {
  const id = c.req.param(name);
  if (isId(id)) return id;
  throw new Problem(problem, detail);
}

const KEY = /^[\x21-\x7e]{1,200}$/;
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description:
    'Repeating a request with the same key has no second effect. The same key with another body is refused with 422.',
};

/** Reads the idempotency key. It is scoped to the token, so that the keys of two clients never collide. */
export function idempotencyKey(c: ApiContext): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (KEY.test(key)) return sha256Hex(`${sha256Hex(c.get('grant').token)}:${c.req.path}:${key}`);
  const message = 'expected 1 to 200 visible ASCII characters';
  throw new Problem('bad_request', 'Correct the header Idempotency-Key or leave it out.', {
    errors: [{ path: 'Idempotency-Key', message }],
  });
}

const inProgress = new Set<string>();

/** Refuses a repetition while the first request is in progress, because its answer is not known yet. */
export async function once<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
  if (key === undefined) return work();
  if (inProgress.has(key)) {
    throw new Problem(
      'idempotency_in_flight',
      'Wait for the answer of the first request, or send this one again in a second.',
      {
        headers: { 'retry-after': '1' },
      },
    );
  }
  inProgress.add(key);
  try {
    return await work();
  } finally {
    inProgress.delete(key);
  }
}

/** Reads and checks the query parameters. An unknown parameter is refused, because it is probably a typo. */
export function readQuery<T extends z.ZodObject>(c: ApiContext, schema: T): z.infer<T> {
  const given: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(c.req.queries())) {
    if (values.length > 1) throw badQuery([{ path: name, message: 'given more than once' }]);
    given[name] = values[0];
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape);
  throw badQuery(
    problemsOf(parsed.error, '', () => known).map(({ path, message }) => ({ path: path.replace(/^\./, ''), message })),
  );
}

const badQuery = (errors: RequestProblem[]): Problem =>
  new Problem('bad_request', 'Correct the named query parameters.', { errors });

/** Enough for the longest message with every character escaped. */
export const MESSAGE_BYTES = 128 * 1024;

/** Reads the body and checks it with a schema. Every problem is reported with its path. */
export async function readBody<T extends z.ZodType>(
  c: ApiContext,
  schema: T,
  maxBytes = MESSAGE_BYTES,
): Promise<z.infer<T>> {
  return checked(schema, await readJson(c, maxBytes));
}

export function checked<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const known = 'shape' in schema ? Object.keys(schema.shape as object) : [];
  throw badBody(problemsOf(parsed.error, '$', (path) => (path.length === 0 ? known : [])));
}

/** Reads the body as a message to a run or a guard, with the function that checks it there too. */
export async function readMessage<Type extends MessageType>(c: ApiContext, type: Type): Promise<MessageBody<Type>> {
  const parsed = parseMessage(type, await readJson(c, MESSAGE_BYTES));
  if (!parsed.ok) throw badBody(parsed.problems);
  const { type: _type, ...body } = parsed.message;
  return body as unknown as MessageBody<Type>;
}

const badBody = (errors: RequestProblem[]): Problem =>
  new Problem('bad_request', 'Correct the named fields and send it again.', { errors });

/** Deeper than any plan. Recursive code could overflow the stack on deeper values. */
const MAX_DEPTH = 100;
/** Long enough for a slow connection, and short enough to stop clients that send a byte now and then. */
const BODY_MS = 10_000;

/** Reads the body as JSON, with a cap on size and time. A larger body is refused before it is in memory. */
export async function readJson(c: ApiContext, maxBytes: number): Promise<unknown> {
  const text = decodeUtf8(await readCapped(c.req.raw, maxBytes));
  const value = parse(text);
  const trouble = findJsonTrouble(text, MAX_DEPTH);
  if (trouble === null) return value;
  switch (trouble.kind) {
    case 'deep':
      throw badJson(`nested deeper than ${MAX_DEPTH} levels`, 'Flatten the value.');
    case 'twice':
      throw badJson(`the key ${shown(trouble.key)} appears twice in one object`, 'Use every key once.');
    case 'forbidden':
      throw badJson(`the key ${shown(trouble.key)} is not allowed`, 'Use another key.');
  }
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 80));
const badJson = (message: string, detail: string): Problem =>
  new Problem('bad_request', detail, { errors: [{ path: '$', message }] });

async function readCapped(request: Request, maxBytes: number): Promise<Uint8Array> {
  const length = request.headers.get('content-length');
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // HTTP itself ends a body of a stated length there, and reading it at once costs half of what a stream costs.
  if (length !== null) return within(BODY_MS, async () => new Uint8Array(await request.arrayBuffer()), tooSlow);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Without `for await`, because leaving such a loop cancels the stream and closes the connection before the answer is sent.
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const until = Date.now() + BODY_MS;
  for (let part = await readChunk(reader, until); part !== null; part = await readChunk(reader, until)) {
    size += part.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function readChunk(reader: Reader, until: number): Promise<Uint8Array | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, until - Date.now()), 'late');
  });
  const reading = reader.read();
  reading.catch(() => {});
  const part = await Promise.race([reading, late]).finally(() => clearTimeout(timer));
  if (part !== 'late') return part.value ?? null;
  return tooSlow();
}

function tooSlow(): never {
  throw new Problem(
    'slow_request',
    `The body did not arrive within ${BODY_MS / 1000} s. Send it again over a faster connection.`,
    {
      headers: { connection: 'close' },
    },
  );
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw notJson('The body is not valid JSON: it is not UTF-8', error);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const said = error instanceof Error ? error.message : 'it is not JSON';
    throw notJson(text === '' ? 'The body is empty' : `The body is not valid JSON: ${said.slice(0, 200)}`, error);
  }
}

const notJson = (what: string, cause: unknown): Problem =>
  new Problem('not_json', `${what}. Send one JSON object.`, { cause });

const tooLarge = (maxBytes: number): Problem =>
  new Problem(
    'too_large',
    `Send at most ${maxBytes} bytes. Store large inputs elsewhere and send a reference to them.`,
  );

/** A problem of a JSON text that `JSON.parse` accepts. */
type JsonTrouble = { kind: 'deep' } | { kind: 'twice'; key: string } | { kind: 'forbidden'; key: string };

/** A key that can change the prototype of the parsed object. */
const FORBIDDEN = '__proto__';

/**
 * Scans a text that is known to be JSON for keys that appear twice (parsers disagree about which one counts), forbidden keys and
 * deep nesting. It is a loop and not recursive, so that nesting cannot overflow the stack.
 */
function findJsonTrouble(text: string, maxDepth: number): JsonTrouble | null {
  /** The keys of each enclosing object; null for a list. */
  const around: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '{':
      case '[':
        around.push(text[at] === '{' ? new Set() : null);
        if (around.length > maxDepth) return { kind: 'deep' };
        break;
      case '}':
      case ']':
        around.pop();
        break;
      case '"': {
        const end = findStringEnd(text, at);
        const keys = around.at(-1);
        if (keys && isFollowedByColon(text, end)) {
          const key = JSON.parse(text.slice(at, end + 1)) as string;
          if (key === FORBIDDEN) return { kind: 'forbidden', key };
          if (keys.has(key)) return { kind: 'twice', key };
          keys.add(key);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return null;
}

/** Returns the end of the string that begins here: the next quote that is not escaped. */
function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isFollowedByColon(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return text[at] === ':';
}
