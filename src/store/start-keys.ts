import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** The keys under which runs were started, each with one request for ever. */
export const createStartKeys = (db: Kysely<Tables>) => ({
  /** Binds the key to this request if it is free. `requestHash` is what it is bound to then. */
  claim: async (key: string, requestHash: string): Promise<{ taken: boolean; requestHash: string }> => {
    const inserted = await db
      .insertInto('start_keys')
      .values({ key, request_hash: requestHash })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows === 1n) return { taken: true, requestHash };
    const row = await db.selectFrom('start_keys').select('request_hash').where('key', '=', key).executeTakeFirst();
    // Given back a moment ago: whoever holds it next will be asked again by Temporal.
    return { taken: false, requestHash: row?.request_hash ?? requestHash };
  },

  /** Gives a key back whose request started nothing. */
  release: async (key: string, requestHash: string): Promise<void> => {
    await db.deleteFrom('start_keys').where('key', '=', key).where('request_hash', '=', requestHash).execute();
  },
});
