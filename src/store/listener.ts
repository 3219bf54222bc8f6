import { Client } from 'pg';
import { channelOf, lockKeyOf, WATCHER_LOCK } from './watch-channel.ts';

export interface ListenerOptions {
  databaseUrl: string;
  connectTimeoutMs?: number;
  onConnectionLost?: (error: Error) => void;
}

export interface Listener {
  /** Calls `onMessage` with the notifications of this run. Returns a function that ends it. */
  listen(runId: string, onMessage: (message: string) => void): () => void;
  close(): Promise<void>;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

/** A connection that broke may fail to close as well. */
async function closeQuietly(client: Client): Promise<void> {
  try {
    await client.end();
  } catch {
    // There is nothing left to close.
  }
}

/**
 * Listens to the notifications of runs on one connection of its own, which is open only while somebody watches. If the
 * connection breaks, it connects again; what is sent meanwhile is lost.
 */
export function createListener(options: ListenerOptions): Listener {
  const listeners = new Map<string, Set<(message: string) => void>>();
  /** The runs that the connection listens to. */
  const active = new Set<string>();
  let client: Client | null = null;
  let waitMs = FIRST_WAIT_MS;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  // One command after the other, because the order of listen and unlisten counts.
  let queue: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(work).catch((error: unknown) => lose(error));
    return queue;
  };

  const lose = (error: unknown): void => {
    const lost = client;
    client = null;
    active.clear();
    if (lost !== null) void closeQuietly(lost);
    options.onConnectionLost?.(error instanceof Error ? error : new Error(String(error)));
    if (isClosed || listeners.size === 0 || retry !== undefined) return;
    retry = setTimeout(() => {
      retry = undefined;
      void inOrder(connect);
    }, waitMs);
    retry.unref();
    waitMs = Math.min(2 * waitMs, MAX_WAIT_MS);
  };

  const connect = async (): Promise<void> => {
    if (client !== null || isClosed || listeners.size === 0) return;
    const fresh = new Client({
      connectionString: options.databaseUrl,
      application_name: 'secondwind watch',
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      keepAlive: true,
    });
    fresh.on('error', (error) => {
      if (client === fresh) lose(error);
    });
    fresh.on('end', () => {
      if (client === fresh) lose(new Error('the connection to Postgres ended'));
    });
    fresh.on('notification', ({ channel, payload }) => {
      for (const [runId, all] of listeners) {
        if (channelOf(runId) === channel) for (const onMessage of all) onMessage(payload ?? '');
      }
    });
    client = fresh;
    await fresh.connect();
    waitMs = FIRST_WAIT_MS;
    for (const runId of listeners.keys()) await follow(runId);
  };

  /** Makes the connection listen to the run, or not any more, as the watchers want it. */
  const follow = async (runId: string): Promise<void> => {
    if (listeners.size === 0) return disconnect();
    if (client === null) return connect();
    const isWanted = listeners.has(runId);
    if (isWanted === active.has(runId)) return;
    const [listening, lock] = isWanted
      ? ['listen', 'pg_advisory_lock_shared']
      : ['unlisten', 'pg_advisory_unlock_shared'];
    await client.query(`${listening} ${channelOf(runId)}`);
    await client.query(`select ${lock}($1::int, $2::int)`, [WATCHER_LOCK, lockKeyOf(runId)]);
    if (isWanted) active.add(runId);
    else active.delete(runId);
  };
  const disconnect = async (): Promise<void> => {
    const idle = client;
    client = null;
    active.clear();
    await idle?.end();
  };

  return {
    listen: (runId, onMessage) => {
      const known = listeners.get(runId);
      const all = known ?? new Set();
      all.add(onMessage);
      listeners.set(runId, all);
      if (known === undefined) void inOrder(() => follow(runId));
      return () => {
        if (!all.delete(onMessage) || all.size > 0 || listeners.get(runId) !== all) return;
        listeners.delete(runId);
        void inOrder(() => follow(runId));
      };
    },
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      listeners.clear();
      await inOrder(disconnect);
    },
  };
}
