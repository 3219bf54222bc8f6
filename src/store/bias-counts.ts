import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';

export type TagCounts = Record<string, number>;

/**
 * Counts of bias tags. The rows are (tag, family, loop), so that a tag counts once per loop however often it is
 * written.
 */
export const createBiasCounts = (db: Kysely<Tables>) => ({
  add: async (seen: {
    family: string;
    loop_id: string;
    tags: readonly string[];
    /** Whose run it is; null or missing for a run without a tenant. */
    tenant?: string | null;
  }): Promise<{ written: number }> => {
    const tags = [...new Set(seen.tags.map(normal))].filter((tag) => tag !== '').sort();
    if (tags.length === 0) return { written: 0 };
    const result = await db
      .insertInto('bias_counts')
      .values(
        tags.map((tag) => ({
          tag,
          family: cleanText(seen.family),
          loop_id: cleanText(seen.loop_id),
          tenant: typeof seen.tenant === 'string' ? cleanText(seen.tenant) : null,
        })),
      )
      .onConflict((conflict) => conflict.columns(['family', 'loop_id', 'tag']).doNothing())
      .executeTakeFirst();
    return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
  },

  ofFamily: async (family: string): Promise<TagCounts> => {
    const rows = await db
      .selectFrom('bias_counts')
      .select(['tag', (eb) => eb.fn.countAll<number>().as('count')])
      .where('family', '=', cleanText(family))
      .groupBy('tag')
      .orderBy('tag')
      .execute();
    return countsOf(rows);
  },

  /** Counts over all families without a tenant, as loops that run elsewhere have none; 0 for an unknown tag. */
  acrossFamilies: async (tags: readonly string[]): Promise<TagCounts> => {
    const wanted = [...new Set(tags.map(normal))];
    const rows = await db
      .selectFrom('bias_counts')
      .select(['tag', (eb) => eb.fn.countAll<number>().as('count')])
      .where(sql<boolean>`tag = any(${wanted}::text[])`)
      .where('tenant', 'is', null)
      .groupBy('tag')
      .execute();
    return { ...Object.fromEntries(wanted.map((tag) => [tag, 0])), ...countsOf(rows) };
  },

  /** Counts of the tags in all other families of the tenant, the most frequent first. */
  elsewhere: async (family: string, tenant: string | null = null, limit = MAX_TAGS): Promise<TagCounts> => {
    const rows = await db
      .selectFrom('bias_counts')
      .select(['tag', (eb) => eb.fn.countAll<number>().as('count')])
      .where('family', '<>', cleanText(family))
      .where('tenant', 'is not distinct from', tenant === null ? null : cleanText(tenant))
      // Longer texts are not tags. The result travels with every start, so it has to be small.
      .where(sql<boolean>`length(tag) <= ${TAG_CHARS}`)
      .groupBy('tag')
      .orderBy('count', 'desc')
      .orderBy('tag')
      .limit(limit)
      .execute();
    return countsOf(rows);
  },
});

const MAX_TAGS = 200;
const TAG_CHARS = 200;

/** Trimmed; the case is kept. */
const normal = (tag: string): string => cleanText(tag).trim();

const countsOf = (rows: readonly { tag: string; count: number }[]): TagCounts =>
  Object.fromEntries(rows.map((row) => [row.tag, row.count]));
