import type { RunEvent } from './run-event.ts';

/** An event of any run. `id` is stable and contains the time and the run. */
export interface FeedEvent {
  id: string;
  run_id: string;
  event: RunEvent;
}

export interface FeedDeps {
  /** Returns the runs that are open or ended after this time. */
  activeSince(time: Date): Promise<string[]>;
  watch(runId: string, options: { signal: AbortSignal; afterId?: string }): AsyncIterable<RunEvent>;
  events(runId: string): Promise<RunEvent[]>;
  onError?: (error: unknown) => void;
}

export interface RunFeed {
  /** Yields the events of all runs from now on, or after a given event, until the signal aborts. */
  subscribe(options: { signal: AbortSignal; afterId?: string }): AsyncGenerator<FeedEvent, void, undefined>;
}

/** The interval in which new runs are looked for. */
const LOOK_MS = 1_000;
/** The number of events that the feed remembers. A reader that missed fewer continues exactly where it was. */
const KEPT_EVENTS = 2_000;
/** A reader that missed more gets this much again, because events of different runs are not exactly ordered by time. */
const MARGIN_MS = 10_000;
/** A reader that has more unread events is disconnected. It can come back with its last id. */
const MAX_WAITING = 5_000;

const feedEventId = (runId: string, event: RunEvent): string => `${event.at}~${runId}~${event.id}`;
const readTime = (id: string): number => Date.parse(id.split('~', 1)[0] ?? '');

interface Reader {
  waiting: FeedEvent[];
  wake: () => void;
  isBehind: boolean;
}

/**
 * Creates one feed for all readers. It follows each run's history once, as long as there is a reader. A reader that comes back misses
 * nothing: events that the feed no longer remembers are read from the histories again.
 */
export function createRunFeed(deps: FeedDeps): RunFeed {
  const readers = new Set<Reader>();
  const kept: FeedEvent[] = [];
  let following: Following | null = null;

  const publish = (event: FeedEvent): void => {
    kept.push(event);
    if (kept.length > KEPT_EVENTS) kept.splice(0, kept.length - KEPT_EVENTS);
    for (const reader of readers) {
      if (reader.waiting.length >= MAX_WAITING) reader.isBehind = true;
      else reader.waiting.push(event);
      reader.wake();
    }
  };

  return {
    subscribe: async function* ({ signal, afterId }) {
      const reader: Reader = { waiting: [], wake: () => {}, isBehind: false };
      readers.add(reader);
      following ??= follow(deps, publish);
      const wake = (): void => reader.wake();
      signal.addEventListener('abort', wake);
      try {
        const told = new Set<string>();
        for (const event of await missedSince(deps, kept, afterId, signal)) {
          told.add(event.id);
          yield event;
        }
        while (!signal.aborted && !reader.isBehind) {
          const next = reader.waiting.shift();
          if (next === undefined) await new Promise<void>((resolve) => (reader.wake = resolve));
          else if (!told.delete(next.id)) yield next;
        }
      } finally {
        signal.removeEventListener('abort', wake);
        readers.delete(reader);
        if (readers.size === 0) {
          following?.stop();
          following = null;
          // Without a reader the runs are not followed, so the remembered events would have a gap.
          kept.length = 0;
        }
      }
    },
  };
}

/** Finds the events after the last one that a reader has seen. */
async function missedSince(
  deps: FeedDeps,
  kept: readonly FeedEvent[],
  afterId: string | undefined,
  signal: AbortSignal,
): Promise<FeedEvent[]> {
  if (afterId === undefined) return [];
  const position = kept.findIndex((event) => event.id === afterId);
  if (position !== -1) return kept.slice(position + 1);
  const time = readTime(afterId);
  if (Number.isNaN(time)) return [];
  const since = new Date(time - MARGIN_MS);
  const missed: FeedEvent[] = [];
  for (const runId of await deps.activeSince(since)) {
    if (signal.aborted) return [];
    for (const event of await deps.events(runId)) {
      if (Date.parse(event.at) >= since.getTime()) missed.push({ id: feedEventId(runId, event), run_id: runId, event });
    }
  }
  return missed.filter((event) => event.id !== afterId).sort((one, other) => (one.event.at < other.event.at ? -1 : 1));
}

interface Following {
  stop(): void;
}

/** Looks for runs and follows each until it has ended. */
function follow(deps: FeedDeps, publish: (event: FeedEvent) => void): Following {
  const ending = new AbortController();
  const { signal } = ending;
  const floor = new Date(Date.now() - 1_000);
  const lastIds = new Map<string, string>();
  const followed = new Set<string>();

  const followRun = async (runId: string): Promise<void> => {
    const afterId = lastIds.get(runId);
    try {
      for await (const event of deps.watch(runId, { signal, ...(afterId && { afterId }) })) {
        lastIds.set(runId, event.id);
        if (Date.parse(event.at) >= floor.getTime()) publish({ id: feedEventId(runId, event), run_id: runId, event });
      }
    } catch (error) {
      if (signal.aborted) return;
      deps.onError?.(error);
      // The next search for runs follows it again.
      followed.delete(runId);
    }
  };

  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        for (const runId of await deps.activeSince(floor)) {
          if (followed.has(runId)) continue;
          followed.add(runId);
          void followRun(runId);
        }
      } catch (error) {
        if (!signal.aborted) deps.onError?.(error);
      }
      await pause(LOOK_MS, signal);
    }
  };
  void look();
  return { stop: () => ending.abort() };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
