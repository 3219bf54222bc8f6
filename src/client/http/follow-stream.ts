import { NotReachableError, SecondwindError } from '../../protocol/errors.ts';
import type { FollowOptions } from '../secondwind-client.ts';
import type { RequestOptions, ApiConnection } from './api-connection.ts';
import { readEvents, type SentEvent } from './read-events.ts';

export interface Following extends FollowOptions {
  path: string;
  about?: RequestOptions['about'];
  isLast?: (event: SentEvent) => boolean;
  /** Called when a stream ended without a new event. Returns true if no more events can come. */
  isOver?: (signal: AbortSignal | undefined) => Promise<boolean>;
  /** How long a connection may be silent until it counts as broken. The server sends a comment every 15 s. */
  silenceMs?: number;
}

const SILENCE_MS = 45_000;
/** The number of failed connections in a row after which the stream fails. */
const MAX_BREAKS = 6;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;

/**
 * Yields the events of a stream and reconnects when it breaks. Each connection starts after the last event that was received, so no
 * event is missing or repeated. Ends with the last event or with the signal; throws when the API cannot be reached any more.
 */
export async function* followStream(
  api: ApiConnection,
  following: Following,
): AsyncGenerator<SentEvent, void, undefined> {
  const { signal, isLast = () => false } = following;
  let { afterId } = following;
  let breaks = 0;
  let wasOpen = false;
  const isLeft = (): boolean => signal?.aborted === true;
  while (!isLeft()) {
    const line = new WatchedConnection(signal, following.silenceMs ?? SILENCE_MS);
    let broke: unknown;
    try {
      const response = await openAt(api, following, afterId, line.signal);
      if (response === null) return;
      wasOpen = true;
      for await (const event of readEvents(line.alive(response.body ?? emptyBody()))) {
        if (isLeft()) return;
        breaks = 0;
        if (event.id !== '') afterId = event.id;
        yield event;
        if (isLast(event)) return;
      }
    } catch (error) {
      if (isLeft()) return;
      // Reconnects only after a first success, so that a wrong address fails at once.
      if (!wasOpen || !isTransient(error)) throw error;
      broke = error;
    } finally {
      line.close();
    }
    breaks += 1;
    if (broke === undefined && breaks > 1 && (await following.isOver?.(signal))) return;
    if (breaks >= MAX_BREAKS) {
      throw broke instanceof SecondwindError ? broke : lost(api, broke);
    }
    await pause(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (breaks - 1)), signal);
  }
}

const openAt = (
  api: ApiConnection,
  { path, about }: Following,
  afterId: string | undefined,
  signal: AbortSignal,
): Promise<Response | null> =>
  api.open(path, afterId === undefined ? {} : { 'last-event-id': afterId }, { signal, ...(about && { about }) });

/** Aborts a connection that has been silent for too long, because a broken one cannot be told from a quiet one. */
class WatchedConnection {
  readonly #ending = new AbortController();
  readonly #silenceMs: number;
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal | undefined, silenceMs: number) {
    this.#silenceMs = silenceMs;
    this.signal = signal ? AbortSignal.any([signal, this.#ending.signal]) : this.#ending.signal;
    this.#heard();
  }

  async *alive(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#heard();
      yield chunk;
      this.#heard();
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#ending.abort();
  }

  #heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ending.abort(), this.#silenceMs);
  }
}

/** Whether another try may help: the connection broke, or the API is not ready yet. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof SecondwindError) || error instanceof NotReachableError || error.code === 'too_many';

const lost = (api: ApiConnection, cause: unknown): NotReachableError =>
  new NotReachableError(`The stream of the API at ${api.url}`, 'Make sure that it runs, and watch again.', cause);

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

const emptyBody = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller) => controller.close() });
