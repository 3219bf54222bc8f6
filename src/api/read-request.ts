import type { z } from 'zod';
import { problemsOf } from '../define/zod-problems.ts';
import { isId, sha256Hex } from '../protocol/ids.ts';
import { type MessageBody, type MessageType, parseMessage } from '../protocol/messages.ts';
import type { RequestProblem } from '../protocol/run.ts';
import type { ApiContext } from './context.ts';
import { Problem, type ProblemCode } from './problem.ts';

/** No run can have another kind of id, so nobody needs to be asked. */
export const runIdOf = (c: ApiContext): string =>
  idOf(c, 'run_id', 'run_not_found', 'This is not the id of a run. Check the id.');

export function idOf(c: ApiContext, name: string, problem: ProblemCode, detail: string): string {
  const id = c.req.param(name);
  if (isId(id)) return id;
  throw new Problem(problem, detail);
}

const KEY = /^[\x21-\x7e]{1,200}$/;
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description: 'The same key with the same body is the same request, however often it is sent; with another body 422.',
};

/** A key belongs to the token that shows it: two clients that both count from 1 do not meet. */
export function idempotencyKey(c: ApiContext): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (KEY.test(key)) return sha256Hex(`${sha256Hex(c.get('grant').token)}:${c.req.path}:${key}`);
  const message = 'expected 1 to 200 visible ASCII characters';
  throw new Problem('bad_request', 'Correct the header Idempotency-Key or leave it out.', {
    errors: [{ path: 'Idempotency-Key', message }],
  });
}

const underWay = new Set<string>();

/** While a request is under way, nobody can say yet what its repetition gets. */
export async function once<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
  if (key === undefined) return work();
  if (underWay.has(key)) {
    throw new Problem('idempotency_in_flight', 'Wait for its answer, or send it again in a second.', {
      headers: { 'retry-after': '1' },
    });
  }
  underWay.add(key);
  try {
    return await work();
  } finally {
    underWay.delete(key);
  }
}

/** The parameters after the question mark, each checked; one that nobody knows is a typo, and is told so. */
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
  new Problem('bad_request', 'Correct the named parameters of the address.', { errors });

/** More than the longest message takes, even with every character written as an escape. */
export const MESSAGE_BYTES = 128 * 1024;

/** The body as its schema wants it, or each mistake by its path. */
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

/** The body as a message to a run or a guard, checked by the same function that checks it there. */
export async function readMessage<Type extends MessageType>(c: ApiContext, type: Type): Promise<MessageBody<Type>> {
  const parsed = parseMessage(type, await readJson(c, MESSAGE_BYTES));
  if (!parsed.ok) throw badBody(parsed.problems);
  const { type: _type, ...body } = parsed.message;
  return body as unknown as MessageBody<Type>;
}

const badBody = (errors: RequestProblem[]): Problem =>
  new Problem('bad_request', 'Correct the named fields and send it again.', { errors });

/** Deeper than any plan; beyond it, whatever walks the value could run out of stack. */
const MAX_DEPTH = 100;
/** Long enough for a slow line, too short to hold a place open with a byte now and then. */
const BODY_MS = 10_000;

/** The body as JSON, read up to a cap and a time: what is larger is refused before it is held, and before it is parsed. */
export async function readJson(c: ApiContext, maxBytes: number): Promise<unknown> {
  const text = textOf(await readCapped(c.req.raw, maxBytes));
  const value = parse(text);
  const trouble = troubleIn(text, MAX_DEPTH);
  if (trouble === null) return value;
  switch (trouble.kind) {
    case 'deep':
      throw badJson(`nested deeper than ${MAX_DEPTH} levels`, 'Send a flatter value.');
    case 'twice':
      throw badJson(`the key ${shown(trouble.key)} stands twice in one object`, 'Name every key once.');
    case 'forbidden':
      throw badJson(`the key ${shown(trouble.key)} is not allowed`, 'Choose another name for it.');
  }
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 80));
const badJson = (message: string, detail: string): Problem =>
  new Problem('bad_request', detail, { errors: [{ path: '$', message }] });

async function readCapped(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Not by `for await`: leaving such a loop cancels the stream, which closes the connection before it has the answer.
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const until = Date.now() + BODY_MS;
  for (let part = await partOf(reader, until); part !== null; part = await partOf(reader, until)) {
    size += part.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function partOf(reader: Reader, until: number): Promise<Uint8Array | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, until - Date.now()), 'late');
  });
  const reading = reader.read();
  reading.catch(() => {});
  const part = await Promise.race([reading, late]).finally(() => clearTimeout(timer));
  if (part !== 'late') return part.value ?? null;
  throw new Problem('slow_request', `The body did not arrive within ${BODY_MS / 1000} s. Send it again, faster.`, {
    headers: { connection: 'close' },
  });
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw notJson('The body cannot be read as JSON: it is not UTF-8', error);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const said = error instanceof Error ? error.message : 'it is not JSON';
    throw notJson(text === '' ? 'The body is empty' : `The body cannot be read as JSON: ${said.slice(0, 200)}`, error);
  }
}

const notJson = (what: string, cause: unknown): Problem =>
  new Problem('not_json', `${what}. Send one JSON object.`, { cause });

const tooLarge = (maxBytes: number): Problem =>
  new Problem('too_large', `Send at most ${maxBytes} bytes; store large inputs elsewhere and point to them.`);

/** What is wrong with a JSON text that a parser accepts all the same. */
type JsonTrouble = { kind: 'deep' } | { kind: 'twice'; key: string } | { kind: 'forbidden'; key: string };

/** A parser keeps the last of two members of one name, another the first: what was checked may not be what is used. */
const FORBIDDEN = '__proto__';

/**
 * Looks through a text that is known to be JSON, once from start to end. Written as a loop, so that no nesting can use
 * up the stack.
 */
function troubleIn(text: string, maxDepth: number): JsonTrouble | null {
  /** The keys of each object around; null for a list. */
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
        const end = endOfText(text, at);
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

/** Where the text that begins here ends: at the next quote that no backslash takes. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isFollowedByColon(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return text[at] === ':';
}
