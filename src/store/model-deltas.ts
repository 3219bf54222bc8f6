import { type Kysely, sql } from 'kysely';
import type { Encryption } from '../encryption/encryption.ts';
import type { ModelDelta } from '../protocol/model-delta.ts';
import { type Listener, createListener, type ListenerOptions } from './listener.ts';
import { openJson, sealJson } from './sealed-json.ts';
import type { Tables } from './tables.ts';
import { channelOf, lockKeyOf, WATCHER_LOCK } from './watch-channel.ts';

const placeOf = (runId: string): string => `model_delta/${runId}`;

/**
 * Passes deltas of models from workers to watchers, with Postgres notifications. Nothing is stored: a delta that nobody
 * listens to is gone. A watcher holds an advisory lock for as long as it listens, so that workers can see it.
 */
export const createModelDeltas = (db: Kysely<Tables>, encryption: Encryption, options: ListenerOptions) => {
  let listener: Listener | undefined;
  return {
    /** Whether anybody listens to the deltas of this run. */
    isWatched: async (runId: string): Promise<boolean> => {
      const { rows } = await sql<{ watched: boolean }>`
        select exists (
          select 1 from pg_locks
          where locktype = 'advisory' and objsubid = 2
            and database = (select oid from pg_database where datname = current_database())
            and classid = ${WATCHER_LOCK}::oid and objid = ${lockKeyOf(runId)}::oid
        ) as watched`.execute(db);
      return rows[0]?.watched === true;
    },
    send: async (runId: string, deltas: readonly ModelDelta[]): Promise<void> => {
      const messages = deltas.map((delta) => sealJson(JSON.stringify(delta), encryption, placeOf(runId)));
      await sql`select pg_notify(${channelOf(runId)}, message) from unnest(${messages}::text[]) as message`.execute(db);
    },
    /** Calls `onDelta` with each delta from now on. Returns a function that ends it. It never throws. */
    subscribe: (runId: string, onDelta: (delta: ModelDelta) => void): (() => void) => {
      listener ??= createListener(options);
      return listener.listen(runId, (message) => {
        const delta = readDelta(message, runId, encryption);
        if (delta !== null) onDelta(delta);
      });
    },
    close: async (): Promise<void> => listener?.close(),
  };
};

export type ModelDeltas = ReturnType<typeof createModelDeltas>;

/** Anybody who may connect to the database may send a notification, so one that cannot be read is left out. */
function readDelta(message: string, runId: string, encryption: Encryption): ModelDelta | null {
  try {
    const delta = openJson(JSON.parse(message), encryption, placeOf(runId)) as ModelDelta;
    return delta.event === 'model_delta' && delta.run_id === runId ? delta : null;
  } catch {
    return null;
  }
}
