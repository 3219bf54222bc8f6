import { NotReachableError, SecondwindError } from '../../protocol/errors.ts';
import type { FollowOptions } from '../secondwind-client.ts';
import type { AskOptions, Door } from './door.ts';
import { readEvents, type SentEvent } from './read-events.ts';

export interface Following extends FollowOptions {
  path: string;
  about?: AskOptions['about'];
  isLast?: (event: SentEvent) => boolean;
  /** Asked when a stream ended before anything new came: whether there is more to wait for. */
  isOver?: (signal: AbortSignal | undefined) => Promise<boolean>;
  /** The server shows a sign of life every 15 s; after this long without one the line is dead. */
  silenceMs?: number;
}

const SILENCE_MS = 45_000;
/** How often in a row nobody answers before a watcher is told so. */
const MAX_BREAKS = 6;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;

/**
 * A stream of events that goes on where it broke: nothing is missing and nothing comes twice, because each connection
 * begins after the last event that was seen. Ends with the last event, with the signal, or when nobody answers any more.
 */
export async function* follow(door: Door, following: Following): AsyncGenerator<SentEvent, void, undefined> {
  const { signal, isLast = () => false } = following;
  let { afterId } = following;
  let breaks = 0;
  let wasOpen = false;
  const isLeft = (): boolean => signal?.aborted === true;
  while (!isLeft()) {
    const line = new Line(signal, following.silenceMs ?? SILENCE_MS);
    let broke: unknown;
    try {
      const response = await openAt(door, following, afterId, line.signal);
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
      // Where nobody has answered yet, nothing is worth waiting for.
      if (!wasOpen || !isPassing(error)) throw error;
      broke = error;
    } finally {
      line.close();
    }
    breaks += 1;
    if (broke === undefined && breaks > 1 && (await following.isOver?.(signal))) return;
    if (breaks >= MAX_BREAKS) {
      throw broke instanceof SecondwindError ? broke : lost(door, broke);
    }
    await pause(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (breaks - 1)), signal);
  }
}

const openAt = (
  door: Door,
  { path, about }: Following,
  afterId: string | undefined,
  signal: AbortSignal,
): Promise<Response | null> =>
  door.open(path, afterId === undefined ? {} : { 'last-event-id': afterId }, { signal, ...(about && { about }) });

/** A connection that is given up when it has been silent for too long: half of a dead line looks like a quiet one. */
class Line {
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

/** What is worth another try: a broken line, and an API that says that it is not all there yet. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof SecondwindError) || error instanceof NotReachableError || error.code === 'too_many';

const lost = (door: Door, cause: unknown): NotReachableError =>
  new NotReachableError(`The stream of the API at ${door.url}`, 'See that it runs, and watch again.', cause);

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
