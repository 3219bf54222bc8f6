import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';

export interface RefusedPart {
  run_id: string;
  /** The list of the write that contained the part. */
  kind: string;
  part_id: string;
  reason: string;
}

const ID_CHARS = 300;
const REASON_CHARS = 1_000;

/** Parts of a run's writes that could not be stored. Their content is not kept, because it may be the reason. */
export const createRefusedParts = (db: Kysely<Tables>) => ({
  /** Each part is written once. A repeated one returns `written: 0`. */
  put: async (parts: readonly RefusedPart[]): Promise<{ written: number }> => {
    if (parts.length === 0) return { written: 0 };
    const result = await db
      .insertInto('refused_parts')
      .values(
        parts.map((part) => ({
          run_id: cleanText(part.run_id).slice(0, ID_CHARS),
          kind: cleanText(part.kind).slice(0, ID_CHARS),
          part_id: cleanText(part.part_id).slice(0, ID_CHARS),
          reason: cleanText(part.reason).slice(0, REASON_CHARS),
        })),
      )
      .onConflict((conflict) => conflict.columns(['run_id', 'kind', 'part_id']).doNothing())
      .executeTakeFirst();
    return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
  },

  forRun: async (runId: string): Promise<(RefusedPart & { created_at: string })[]> => {
    const rows = await db
      .selectFrom('refused_parts')
      .select(['run_id', 'kind', 'part_id', 'reason', 'created_at'])
      .where('run_id', '=', cleanText(runId))
      .orderBy('id')
      .execute();
    return rows.map(({ created_at, ...part }) => ({ ...part, created_at: created_at.toISOString() }));
  },
});
