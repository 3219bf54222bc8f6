import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';

/** Whose loops a family's name stands for: a run's, or those that a guard hears of. */
export interface FamilyOwner {
  /** null: a guard's. */
  run_id: string | null;
}
export interface ClaimedFamily extends FamilyOwner {
  family: string;
  /** How long ago it was claimed, by the database's clock. */
  age_ms: number;
}

/** The names of families, each with one owner. */
export const createLoopFamilies = (db: Kysely<Tables>) => ({
  /** Takes the name if nobody has it. `owner` is whose it is then; `taken` says whether this call took it. */
  claim: async (family: string, owner: FamilyOwner): Promise<{ taken: boolean; owner: ClaimedFamily | null }> => {
    const result = await db
      .insertInto('loop_families')
      .values({ family: cleanText(family), run_id: owner.run_id === null ? null : cleanText(owner.run_id) })
      .onConflict((conflict) => conflict.column('family').doNothing())
      .executeTakeFirst();
    const taken = result.numInsertedOrUpdatedRows === 1n;
    return { taken, owner: taken ? { family, ...owner, age_ms: 0 } : await ownerOf(db, family) };
  },

  ownerOf: (family: string): Promise<ClaimedFamily | null> => ownerOf(db, family),

  /** Gives a name back that was taken for something that never came to be. */
  release: async (family: string, owner: FamilyOwner): Promise<void> => {
    await db
      .deleteFrom('loop_families')
      .where('family', '=', cleanText(family))
      .where(sql<boolean>`run_id is not distinct from ${owner.run_id}::text`)
      .execute();
  },
});

async function ownerOf(db: Kysely<Tables>, family: string): Promise<ClaimedFamily | null> {
  const row = await db
    .selectFrom('loop_families')
    .select([
      'family',
      'run_id',
      sql<number>`(extract(epoch from clock_timestamp() - claimed_at) * 1000)::bigint`.as('age_ms'),
    ])
    .where('family', '=', cleanText(family))
    .executeTakeFirst();
  return row ?? null;
}
