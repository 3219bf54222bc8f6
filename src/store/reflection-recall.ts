import { sql } from 'kysely';
import type { Kysely, RawBuilder, Selectable } from 'kysely';
import { compareLessons, MAX_LESSONS } from '../core/lessons/rank-lessons.ts';
import type { Lesson } from '../core/lessons/rank-lessons.ts';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import { prepareSearch, readableScopes } from './reflection-scope.ts';
import type { Reader } from './reflection-scope.ts';
import type { Tables } from './tables.ts';

type CurrentRow = Selectable<Tables['reflection_current']>;

export interface StoredReflection extends Omit<
  CurrentRow,
  'scope_key' | 'original_content' | 'retired' | 'created_at' | 'last_seen_at'
> {
  created_at: string;
  /** The time of its latest occurrence. */
  last_seen_at: string;
}

export interface RecalledReflection extends StoredReflection {
  /** 1 for an equal fingerprint or signature, the similarity for a similar lesson, 0 if nothing was compared. */
  score: number;
  reason: 'same_fingerprint' | 'same_signature' | 'similar' | 'recent';
}

export interface SimilarQuery extends Reader {
  content: string;
  error_type?: string;
  similarity_threshold: number;
  limit?: number;
}

export interface FailureQuery extends Reader {
  error_type: string;
  fingerprint: string;
  /** The failure in one line. A lesson about it begins with the same words. */
  description: string;
  similarity_threshold: number;
  limit?: number;
  /** Timeout of the statement in Postgres. */
  timeout_ms?: number;
}

/** How many equally good matches are ranked. */
const RANKED_CANDIDATES = 200;

/** Reads lessons. Retired ones are never returned. */
export const createReflectionRecall = (db: Kysely<Tables>) => {
  const bySignature = async (
    query: Reader & { error_signature: string; error_type?: string; limit?: number },
  ): Promise<RecalledReflection[]> => {
    const type = query.error_type === undefined ? sql`` : sql`and r.error_type = ${cleanText(query.error_type)}`;
    const rows = await select(db, query, {
      where: sql`and r.error_signature = ${cleanText(query.error_signature)} ${type}`,
      score: sql`1`,
      order: sql`r.id`,
      limit: pageSize(query.limit ?? 5),
    });
    return rows.map((row) => toRecalled(row, 'same_signature'));
  };

  const similar = (query: SimilarQuery): Promise<RecalledReflection[]> =>
    db.transaction().execute(async (trx) => {
      const { similarity_threshold: threshold } = query;
      await prepareSearch(trx, { similarity: threshold, word_similarity: threshold });
      const content = cleanText(query.content);
      // A part of a lesson finds it too, such as its verbatim beginning.
      const rows = await selectByText(trx, query, {
        where: sql`and (t.content % ${content} or t.content %> ${content}) ${ofType(query.error_type)}`,
        score: sql`greatest(similarity(t.content, ${content}), word_similarity(${content}, t.content))`,
        limit: pageSize(query.limit ?? MAX_LESSONS),
      });
      return rows.map((row) => toRecalled(row, 'similar'));
    });

  /**
   * Recalls lessons about a failure: those learnt from the same failure, best first, or else lessons of the same type
   * whose text contains something similar to its description. The description is compared with a part of the lesson
   * only, because a lesson continues with what worked.
   */
  const recallForFailure = (query: FailureQuery): Promise<RecalledReflection[]> =>
    db.transaction().execute(async (trx) => {
      await prepareSearch(trx, { word_similarity: query.similarity_threshold, timeout_ms: query.timeout_ms });
      const limit = query.limit ?? MAX_LESSONS;
      const same = await select(trx, query, {
        where: sql`and r.fingerprint = ${cleanText(query.fingerprint)} and ${NOT_QUARANTINED}`,
        score: sql`1`,
        order: sql`r.pinned desc, r.id desc`,
        limit: RANKED_CANDIDATES,
      });
      if (same.length > 0) return best(same, limit).map((row) => toRecalled(row, 'same_fingerprint'));
      const description = cleanText(query.description);
      const alike = await selectByText(trx, query, {
        where: sql`and t.content %> ${description} and t.error_type = ${cleanText(query.error_type)} and ${NOT_QUARANTINED}`,
        score: sql`word_similarity(${description}, t.content)`,
        limit: RANKED_CANDIDATES,
      });
      return best(alike, limit).map((row) => toRecalled(row, 'similar'));
    });

  return {
    get: async (id: number): Promise<(StoredReflection & { retired: boolean }) | null> => {
      const row = await db.selectFrom('reflection_current').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? { ...toStored(row), retired: row.retired } : null;
    },
    bySignature,
    similar,
    recallForFailure,

    /** Finds lessons with the same signature and, if `content` is given, similar ones. */
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

    /** The latest lessons, of one type if it is given. */
    list: async (query: Reader & { error_type?: string; limit?: number }): Promise<RecalledReflection[]> => {
      const type = query.error_type === undefined ? sql`` : sql`and r.error_type = ${cleanText(query.error_type)}`;
      const rows = await select(db, query, {
        where: type,
        score: sql`0`,
        order: sql`r.id desc`,
        limit: pageSize(query.limit),
      });
      return rows.map((row) => toRecalled(row, 'recent'));
    },

    /** The latest lessons of all agents, of one tenant if it is given, for people who maintain them. Runs do not use it. */
    listAll: async (
      query: { error_type?: string; limit?: number; tenant?: string | null } = {},
    ): Promise<RecalledReflection[]> => {
      const type = query.error_type === undefined ? sql`` : sql`and r.error_type = ${cleanText(query.error_type)}`;
      const { tenant } = query;
      const whose = typeof tenant === 'string' ? sql`and r.tenant = ${cleanText(tenant)}` : sql``;
      const { rows } = await sql<Scored>`
        select r.*, 0 as score from reflection_current as r
        where not r.retired ${type} ${whose}
        order by r.id desc
        limit ${pageSize(query.limit)}`.execute(db);
      return rows.map((row) => toRecalled(row, 'recent'));
    },
  };
};

/** A lesson that did harm is shown to no run, unless a person pinned it. */
const NOT_QUARANTINED = sql`(r.status <> 'quarantined' or r.pinned)`;

type Scored = CurrentRow & { score: number };

const ofType = (errorType: string | undefined): RawBuilder<unknown> =>
  errorType === undefined ? sql`` : sql`and t.error_type = ${cleanText(errorType)}`;

interface Selection {
  where: RawBuilder<unknown>;
  score: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
  limit: number;
}

/** One index scan per readable scope, because neither index can search several keys and keep an order. */
const select = async (db: Kysely<Tables>, reader: Reader, selection: Selection): Promise<Scored[]> => {
  const { where, score, order, limit } = selection;
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

/** By similarity, then the oldest first. */
const selectByText = async (
  db: Kysely<Tables>,
  reader: Reader,
  { where, score, limit }: Omit<Selection, 'order'>,
): Promise<Scored[]> => {
  const perScope = readableScopes(reader).map(
    (key) => sql`(
      select r.*, ${score} as score
      from reflection_texts as t join reflection_current as r on r.id = t.reflection_id
      where t.scope_key = ${key} and not r.retired ${where}
      order by score desc, r.id
      limit ${limit}
    )`,
  );
  const { rows } = await sql<Scored>`
    select * from (${sql.join(perScope, sql` union all `)}) as r order by score desc, r.id limit ${limit}`.execute(db);
  return rows;
};

/** Most similar first, then in the order in which the start of a run ranks them. */
const best = (rows: readonly Scored[], limit: number): Scored[] =>
  rows
    .map((row) => ({ row, lesson: toLesson(row) }))
    .sort((a, b) => b.row.score - a.row.score || compareLessons(a.lesson, b.lesson))
    .slice(0, limit)
    .map(({ row }) => row);

const ID_DIGITS = 16;

/** Pads an id, because ranking compares ids as text. With equal lengths that is the numeric order. */
export const lessonId = (id: number): string => String(id).padStart(ID_DIGITS, '0');

const toLesson = (row: CurrentRow): Lesson => ({
  id: lessonId(row.id),
  content: row.content,
  tools: row.tools,
  pinned: row.pinned,
  uses: row.succeeded_count + row.failed_count,
  successes: row.succeeded_count,
  last_seen_at: row.last_seen_at.toISOString(),
});

const toStored = (row: CurrentRow): StoredReflection => ({
  id: row.id,
  scope: row.scope,
  agent: row.agent,
  tenant: row.tenant,
  error_type: row.error_type,
  error_signature: row.error_signature,
  fingerprint: row.fingerprint,
  category: row.category,
  content: row.content,
  rationale: row.rationale,
  tags: row.tags,
  tools: row.tools,
  context: row.context,
  pinned: row.pinned,
  status: row.status,
  phase: row.phase,
  occurrence_count: row.occurrence_count,
  succeeded_count: row.succeeded_count,
  failed_count: row.failed_count,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_seen_at.toISOString(),
});

const toRecalled = (row: Scored, reason: RecalledReflection['reason']): RecalledReflection => ({
  ...toStored(row),
  score: row.score,
  reason,
});
