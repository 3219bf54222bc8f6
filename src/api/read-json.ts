import type { ApiContext } from './context.ts';
import { Problem } from './problem.ts';

/** Deeper than any plan; beyond it, whatever walks the value could run out of stack. */
const MAX_DEPTH = 100;

/** The body as JSON, read up to a cap: what is larger is refused before it is held, and before it is parsed. */
export async function readJson(c: ApiContext, maxBytes: number): Promise<unknown> {
  const bytes = await readCapped(c.req.raw, maxBytes);
  const value = parse(bytes);
  if (isDeeperThan(value, MAX_DEPTH)) {
    const message = `nested deeper than ${MAX_DEPTH} levels`;
    throw new Problem('bad_request', 'Send a flatter value.', { errors: [{ path: '$', message }] });
  }
  return value;
}

async function readCapped(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Not by `for await`: leaving such a loop cancels the stream, which closes the connection before it has the answer.
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const said = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    const what = bytes.length === 0 ? 'The body is empty' : `The body cannot be read as JSON: ${said.slice(0, 200)}`;
    throw new Problem('not_json', `${what}. Send one JSON object.`, { cause: error });
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let depth = 0; layer.length > 0; depth += 1) {
    if (depth > levels) return true;
    layer = layer.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

const tooLarge = (maxBytes: number): Problem =>
  new Problem('too_large', `Send at most ${maxBytes} bytes; store large inputs elsewhere and point to them.`);
