import type { ApiContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { troubleIn } from './strict-json.ts';

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
      throw refused(`nested deeper than ${MAX_DEPTH} levels`, 'Send a flatter value.');
    case 'twice':
      throw refused(`the key ${shown(trouble.key)} stands twice in one object`, 'Name every key once.');
    case 'forbidden':
      throw refused(`the key ${shown(trouble.key)} is not allowed`, 'Choose another name for it.');
  }
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 80));
const refused = (message: string, detail: string): Problem =>
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
