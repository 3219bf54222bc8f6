import { sql } from 'kysely';
import type { Kysely, RawBuilder, Selectable } from 'kysely';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import { readableScopes, setSimilarityThreshold } from './reflection-scope.ts';
import type { ReflectionScope } from './reflection-scope.ts';
import type { Tables } from './tables.ts';

type CurrentRow = Selectable<Tables['reflection_current']>;

export interface StoredReflection extends Omit<
  CurrentRow,
  'scope_key' | 'original_content' | 'retired' | 'created_at'
> {
  created_at: string;
}

export interface RecalledReflection extends StoredReflection {
  /** 1 for the same signature, the trigram similarity for a similar one, 0 where nothing was compared. */
  score: number;
  reason: 'same_signature' | 'similar' | 'recent';
}

/** Whose memory is asked. */
export interface Reader {
  scope: ReflectionScope;
  agent: string | null;
}

export interface SimilarQuery extends Reader {
  content: string;
  error_type?: string;
  similarity_threshold: number;
  limit?: number;
}

/** Retired lessons are never recalled. */
export const createReflectionRecall = (db: Kysely<Tables>) => {
  const bySignature = async (
    query: Reader & { error_signature: string; error_type?: string; limit?: number },
  ): Promise<RecalledReflection[]> => {
    const signature = sql`and r.error_signature = ${cleanText(query.error_signature)}`;
    const rows = await select(db, query, sql`${signature} ${ofType(query.error_type)}`, {
      score: sql`1`,
      order: sql`r.id`,
      limit: pageSize(query.limit ?? 5),
    });
    return rows.map((row) => toRecalled(row, 'same_signature'));
  };

  const similar = (query: SimilarQuery): Promise<RecalledReflection[]> =>
    db.transaction().execute(async (trx) => {
      await setSimilarityThreshold(trx, query.similarity_threshold);
      const content = cleanText(query.content);
      const alike = sql`and r.original_content % ${content}`;
      const rows = await select(trx, query, sql`${alike} ${ofType(query.error_type)}`, {
        score: sql`similarity(r.original_content, ${content})`,
        order: sql`score desc, r.id`,
        limit: pageSize(query.limit ?? 5),
      });
      return rows.map((row) => toRecalled(row, 'similar'));
    });

  return {
    get: async (id: number): Promise<(StoredReflection & { retired: boolean }) | null> => {
      const row = await db.selectFrom('reflection_current').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? { ...toStored(row), retired: row.retired } : null;
    },
    bySignature,
    similar,

    /** "Have I seen this error before?" By signature and, with a content, by similarity. */
    seen: async (
      query: Reader & {
        error_signature: string;
        error_type?: string;
        content?: string;
        similarity_threshold: number;
      },
    ): Promise<{ seen: boolean; occurrence_count: number }> => {
      let found = await bySignature({ ...query, limit: 1 });
      if (found.length === 0 && query.content !== undefined) {
        found = await similar({ ...query, content: query.content, limit: 1 });
      }
      return { seen: found.length > 0, occurrence_count: found[0]?.occurrence_count ?? 0 };
    },

    /** The newest, of one type if it is named. */
    list: async (query: Reader & { error_type?: string; limit?: number }): Promise<RecalledReflection[]> => {
      const rows = await select(db, query, ofType(query.error_type), {
        score: sql`0`,
        order: sql`r.id desc`,
        limit: pageSize(query.limit),
      });
      return rows.map((row) => toRecalled(row, 'recent'));
    },

    /** The lessons that a run starts with: pinned first, then success after use, then the most recent. */
    forRun: async (query: Reader & { tools: readonly string[]; limit?: number }): Promise<StoredReflection[]> => {
      const tools = query.tools.map(cleanText);
      const concerning = sql`and (r.tools = '{}' or r.tools && ${tools}::text[])`;
      const rows = await select(db, query, concerning, {
        score: sql`0`,
        order: sql`r.pinned desc, r.succeeded_count - r.failed_count desc, r.id desc`,
        limit: pageSize(query.limit ?? 5),
      });
      return rows.map(toStored);
    },
  };
};

type Scored = CurrentRow & { score: number };

const ofType = (errorType: string | undefined): RawBuilder<unknown> =>
  errorType === undefined ? sql`` : sql`and r.error_type = ${cleanText(errorType)}`;

/** One index scan per readable scope: GIN cannot look for a list of keys at once. */
const select = async (
  db: Kysely<Tables>,
  reader: Reader,
  where: RawBuilder<unknown>,
  { score, order, limit }: { score: RawBuilder<unknown>; order: RawBuilder<unknown>; limit: number },
): Promise<Scored[]> => {
  const perScope = readableScopes(reader).map(
    (key) => sql`(
      select r.*, ${score} as score from reflection_current as r
      where r.scope_key = ${key} and not r.retired ${where}
      order by ${order}
      limit ${limit}
    )`,
  );
  const { rows } = await sql<Scored>`
    select * from (${sql.join(perScope, sql` union all `)}) as r order by ${order} limit ${limit}`.execute(db);
  return rows;
};

const toStored = (row: CurrentRow): StoredReflection => ({
  id: row.id,
  scope: row.scope,
  agent: row.agent,
  error_type: row.error_type,
  error_signature: row.error_signature,
  category: row.category,
  content: row.content,
  rationale: row.rationale,
  tags: row.tags,
  tools: row.tools,
  context: row.context,
  pinned: row.pinned,
  occurrence_count: row.occurrence_count,
  succeeded_count: row.succeeded_count,
  failed_count: row.failed_count,
  created_at: row.created_at.toISOString(),
});

const toRecalled = (row: Scored, reason: RecalledReflection['reason']): RecalledReflection => ({
  ...toStored(row),
  score: row.score,
  reason,
});
