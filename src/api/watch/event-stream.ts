import { redactShown } from '../../core/redaction/shown.ts';
import type { ApiContext } from '../api-context.ts';

/** One server-sent event. */
export interface StreamMessage {
  /** Absent for a message that cannot be sent again. A reader that reconnects starts after the last one with an id. */
  id?: string;
  event: string;
  data: unknown;
}

/** A comment is sent in this interval, so that proxies do not close a quiet connection. */
const BEAT_MS = 15_000;
const RETRY_MS = 2_000;
/** A chunk is sent when it has so many characters, also if more messages are ready. */
const CHUNK_CHARS = 64_000;

export interface StreamOptions {
  /** Ends the stream after this many seconds. Default: when its source ends or its reader leaves. */
  seconds?: number | undefined;
  onError: (error: unknown) => void;
}

/**
 * Makes a stream of server-sent events from a source that ends with the signal. At most one chunk is buffered, so a slow reader
 * slows the source down.
 */
export function eventStream(
  c: ApiContext,
  open: (signal: AbortSignal) => AsyncIterable<StreamMessage>,
  { seconds, onError }: StreamOptions,
): Response {
  const letGo = c.get('streams').take(c.get('grant').token);
  const ending = new AbortController();
  const encoder = new TextEncoder();
  const redact = c.get('redact');
  const messages = open(ending.signal)[Symbol.asyncIterator]();
  let beat: NodeJS.Timeout | undefined;
  let isOpen = true;
  let isDone = false;
  let next: Promise<IteratorResult<StreamMessage, unknown>> | undefined;
  const close = (): void => {
    if (isOpen) letGo();
    isOpen = false;
    clearInterval(beat);
    clearTimeout(timeUp);
    ending.abort();
    c.req.raw.signal.removeEventListener('abort', close);
  };
  c.req.raw.signal.addEventListener('abort', close, { once: true });
  const timeUp = seconds === undefined ? undefined : setTimeout(close, seconds * 1_000);
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
      beat = setInterval(() => {
        // What waits for the reader is as good as a beat, and must not grow.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': beat\n\n'));
      }, BEAT_MS);
    },
    pull: async (controller) => {
      let text = '';
      try {
        // The beginning of a long run is thousands of messages that are there at once, so one chunk carries many of them.
        while (text.length < CHUNK_CHARS) {
          next ??= messages.next();
          const got = await (text === '' ? unlessOver(next, ending.signal) : Promise.race([next, soon()]));
          if (got === undefined) break;
          next = undefined;
          if (got.done === true) {
            isDone = true;
            break;
          }
          text += lines({ ...got.value, data: redactShown(got.value.data, redact) });
        }
      } catch (error) {
        // The reader reconnects with the id of its last event and misses nothing.
        onError(error);
        isDone = true;
      }
      if (text !== '') controller.enqueue(encoder.encode(text));
      if (!isDone) return;
      close();
      controller.close();
    },
    cancel: close,
  });
  return c.body(stream, 200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
}

/** Resolves when everything that is ready now had its turn. */
const soon = (): Promise<undefined> => new Promise((resolve) => setImmediate(resolve, undefined));

/** A source may be busy when the time is up, for example with a long list of what the reader missed. */
async function unlessOver(
  next: Promise<IteratorResult<StreamMessage, unknown>>,
  signal: AbortSignal,
): Promise<IteratorResult<StreamMessage, unknown>> {
  let end = (): void => undefined;
  const over = new Promise<{ done: true; value: undefined }>((resolve) => {
    end = () => resolve({ done: true, value: undefined });
  });
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([next, over]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** JSON contains no line breaks, so the data of a message is always one line. */
const lines = ({ id, event, data }: StreamMessage): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
