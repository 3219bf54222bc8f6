import type { Kysely } from 'kysely';
import type { Encryption } from '../encryption/encryption.ts';
import { openJson, sealJson } from './sealed-json.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

export interface ArchivedGuard {
  family: string;
  /** The guard's last state. Its answers are computed from it. */
  ending: unknown;
  started_at: string;
  ended_at: string;
}

export const createArchivedGuards = (db: Kysely<Tables>, encryption: Encryption) => ({
  /** Writes the guard of a family. The first write is kept; a repeated one returns `written: false`. */
  put: async (guard: ArchivedGuard): Promise<{ written: boolean }> => {
    const result = await db
      .insertInto('archived_guards')
      .values({
        family: guard.family,
        // Not cleaned as elsewhere: the column keeps the exact text, because answers have to be equal byte for byte.
        ending: sealJson(JSON.stringify(guard.ending), encryption, `guard ${guard.family}`),
        started_at: isoMillis(guard.started_at),
        ended_at: isoMillis(guard.ended_at),
      })
      .onConflict((conflict) => conflict.column('family').doNothing())
      .executeTakeFirst();
    return { written: result.numInsertedOrUpdatedRows === 1n };
  },

  get: async (family: string): Promise<ArchivedGuard | null> => {
    const row = await db
      .selectFrom('archived_guards')
      .select(['family', 'ending', 'started_at', 'ended_at'])
      .where('family', '=', family)
      .executeTakeFirst();
    if (row === undefined) return null;
    const ending = openJson(row.ending, encryption, `guard ${family}`);
    return { ...row, ending, started_at: row.started_at.toISOString(), ended_at: row.ended_at.toISOString() };
  },
});
