import type { ModelDeltaPart } from '../protocol/model-delta.ts';
import { isRecord } from '../protocol/json.ts';
import { AnswerTooLarge, boundAnswer } from './bounded-fetch.ts';
import { ANSWER_CAP } from './request.ts';
import { ChatAssembler, readStreamData } from './stream-events.ts';

/** Called with each piece of an answer. It must not throw. */
export type OnDelta = (part: ModelDeltaPart) => void;

/** Endpoints that refused a streamed request. They are asked without streaming until the process ends. */
const withoutStreaming = new Set<string>();

/** A chunk of a few characters has some hundred bytes. */
const STREAM_GROWTH = 64;

/**
 * A fetch that asks a chat completions endpoint for a stream, reports its pieces, and returns the answer as if it had been
 * asked without one. So everything that reads the answer, and every classification of a failure, stays the same. A server that
 * cannot stream, or answers without a stream, works as before.
 */
export const streamedFetch =
  (onDelta: OnDelta, toolName: (wire: string) => string, plain: typeof fetch): typeof fetch =>
  async (input, init) => {
    const address = String(input instanceof Request ? input.url : input);
    const asked = readBody(init?.body);
    if (asked === null || asked['stream'] !== undefined || withoutStreaming.has(address)) return plain(input, init);
    const streaming = { ...asked, stream: true, stream_options: { include_usage: true } };
    const response = await fetch(input, { ...init, body: JSON.stringify(streaming) });
    if (response.status === 400 || response.status === 422) {
      const text = await response.text();
      if (!/\bstream/i.test(text)) return copyOf(response, text);
      // Nothing was generated, so the same request is sent once more without streaming.
      withoutStreaming.add(address);
      return plain(input, init);
    }
    if (!response.ok || response.body === null) return boundAnswer(response);
    const chunks = response.body as unknown as AsyncIterable<Uint8Array>;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    return copyOf(response, toStream(answerBytes(chunks, { isStream, onDelta, toolName })));
  };

function readBody(body: unknown): Record<string, unknown> | null {
  try {
    const parsed: unknown = typeof body === 'string' ? JSON.parse(body) : null;
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function copyOf({ status, statusText, headers }: Response, body: string | ReadableStream<Uint8Array>): Response {
  const kept = new Headers(headers);
  kept.delete('content-length');
  kept.delete('content-encoding');
  if (typeof body !== 'string') kept.set('content-type', 'application/json');
  return new Response(body, { status, statusText, headers: kept });
}

/** Reads lazily, so that a connection that breaks makes reading the body fail, as it does without streaming. */
const toStream = (chunks: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });

/** The first bytes of a stream. Some gateways pass a stream on under another type. */
const BEGINS_STREAM = /^\s*(?:data|event|id|retry)?:/;

/** The body of the answer: put together from a stream, or as it came. */
async function* answerBytes(
  source: AsyncIterable<Uint8Array>,
  how: { isStream: boolean; onDelta: OnDelta; toolName: (wire: string) => string },
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  const all = (async function* (): AsyncGenerator<Uint8Array> {
    for (let next = first; next.done !== true; next = await chunks.next()) yield next.value;
  })();
  const begins = first.done === true ? '' : new TextDecoder().decode(first.value.slice(0, 64));
  if (!how.isStream && !BEGINS_STREAM.test(begins)) return yield* bounded(all, ANSWER_CAP.bodyBytes);
  const streamed = bounded(all, STREAM_GROWTH * ANSWER_CAP.bodyBytes);
  yield new TextEncoder().encode(await assemble(streamed, how.onDelta, how.toolName));
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > most) throw new AnswerTooLarge();
    yield chunk;
  }
}

async function assemble(
  chunks: AsyncIterable<Uint8Array>,
  onDelta: OnDelta,
  toolName: (wire: string) => string,
): Promise<string> {
  const answer = new ChatAssembler();
  const calls = new Map<unknown, { call_id: string; tool: string }>();
  let chars = 0;
  for await (const data of readStreamData(chunks)) {
    const chunk = readBody(data);
    // What is not a chunk is the body: the error of a gateway, or something that cannot be read.
    if (chunk === null || isRecord(chunk['error']) || !Array.isArray(chunk['choices'])) return data;
    const delta = answer.add(chunk);
    for (const part of partsOf(delta, calls, toolName)) {
      chars += part.text.length;
      onDelta(part);
    }
    if (chars > ANSWER_CAP.bodyBytes) throw new AnswerTooLarge();
  }
  if (!answer.isFinished) throw Object.assign(new TypeError('terminated'), { code: 'UND_ERR_SOCKET' });
  return answer.body();
}

function partsOf(
  { content, tool_calls: called }: Record<string, unknown>,
  calls: Map<unknown, { call_id: string; tool: string }>,
  toolName: (wire: string) => string,
): ModelDeltaPart[] {
  const parts: ModelDeltaPart[] = [];
  if (typeof content === 'string' && content !== '') parts.push({ kind: 'text', text: content });
  for (const call of Array.isArray(called) ? called : []) {
    if (!isRecord(call)) continue;
    const { name, arguments: written } = isRecord(call['function']) ? call['function'] : {};
    const index = call['index'] ?? call['id'];
    const known =
      calls.get(index) ??
      (typeof name === 'string'
        ? { call_id: typeof call['id'] === 'string' ? call['id'] : '', tool: toolName(name) }
        : null);
    if (known === null) continue;
    calls.set(index, known);
    parts.push({ kind: 'tool_call', ...known, text: typeof written === 'string' ? written : '' });
  }
  return parts;
}
