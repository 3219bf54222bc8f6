import { sql } from 'kysely';
import type { Kysely, RawBuilder, Selectable } from 'kysely';
import { compareLessons, MAX_LESSONS } from '../core/lessons/rank-lessons.ts';
import type { Lesson } from '../core/lessons/rank-lessons.ts';
import { signalTypeSchema } from '../protocol/schemas/failure-record.ts';
import { cleanText } from './clean-text.ts';
import { buildPage, decodeCursor, pageSize } from './cursor.ts';
import type { Page } from './cursor.ts';
import { ERRORS_OF_LESSONS, findErrorTexts, findExact, findSimilar, findTyped, OF_LESSONS } from './recall-search.ts';
import type { FoundText, MatchReason } from './recall-search.ts';
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
  /** 1 for an equal fingerprint, message or signature, less for a similar text, 0 if nothing was compared. */
  score: number;
  reason: 'same_fingerprint' | 'same_message' | 'same_signature' | 'similar' | 'recent';
}

export interface SimilarQuery extends Reader {
  /** An error, a part of one, or a part of a lesson. */
  content: string;
  error_type?: string;
  limit?: number;
}

export interface FailureQuery extends Reader {
  error_type: string;
  fingerprint: string;
  /** The tool that failed. Lessons about other tools are left out. */
  tool_name?: string | null | undefined;
  /** The message of the error. */
  error_text?: string | undefined;
  /** The failure in one line. It takes the place of a message that is missing. */
  description: string;
  limit?: number;
  /** Timeout of the statement in Postgres. */
  timeout_ms?: number;
}

/** What people search for in lessons. */
export interface LessonSearch {
  q?: string | undefined;
  tool?: string | undefined;
  code?: string | undefined;
  /** Lessons that were learnt from this failure. */
  fingerprint?: string | undefined;
  agent?: string | undefined;
  error_type?: string | undefined;
  /** Null for lessons without a tenant. If it is missing, the lessons of all tenants. */
  tenant?: string | null | undefined;
  limit?: number | undefined;
}

/** How many matches are read and ranked. */
const RANKED_CANDIDATES = 50;

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

  /** The lessons with these ids that a reader may see, in the order of `found`. */
  const readFound = async (
    trx: Kysely<Tables>,
    found: readonly FoundText[],
    where: RawBuilder<unknown>,
  ): Promise<{ row: CurrentRow; match: FoundText }[]> => {
    const best = found.slice(0, RANKED_CANDIDATES);
    if (best.length === 0) return [];
    const ids = best.flatMap(({ reflection_id }) => reflection_id ?? []);
    const { rows } = await sql<CurrentRow>`
      select r.* from reflection_current as r
      where r.id = any(${ids}::bigint[]) and not r.retired ${where}`.execute(trx);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return best.flatMap((match) => {
      const row = match.reflection_id === null ? undefined : byId.get(match.reflection_id);
      return row === undefined ? [] : [{ row, match }];
    });
  };

  /** Lessons whose error or whose own text is like a text, or contains it. */
  const similar = (query: SimilarQuery): Promise<RecalledReflection[]> =>
    db.transaction().execute(async (trx) => {
      await prepareSearch(trx, {});
      const search = { scopes: readableScopes(query), text: query.content };
      const found = await readFound(trx, await findErrorTexts(trx, search, OF_LESSONS), ofType(query.error_type));
      return rank(found).slice(0, pageSize(query.limit ?? MAX_LESSONS));
    });

  /**
   * Recalls lessons about a failure: those learnt from the same failure or from the same message, or else those whose error
   * is the same in other words. Types of imported lessons are free; only two kinds of failure exclude each other.
   */
  const recallForFailure = (query: FailureQuery): Promise<RecalledReflection[]> =>
    db.transaction().execute(async (trx) => {
      await prepareSearch(trx, { timeout_ms: query.timeout_ms });
      const { tool_name: tool = null, fingerprint } = query;
      const search = { scopes: readableScopes(query), text: query.error_text || query.description, fingerprint };
      const ofTool = tool === null ? sql`` : sql`and (r.tools = '{}' or ${cleanText(tool)} = any(r.tools))`;
      const where = sql`and ${NOT_QUARANTINED} ${ofTool}
            and (r.error_type = ${cleanText(query.error_type)} or not r.error_type = any(${[...SIGNAL_TYPES]}::text[])
              or r.fingerprint = ${cleanText(fingerprint)})`;
      const read = async (found: FoundText[]) => rank(await readFound(trx, found, where));
      const exact = await read(await findExact(trx, search, ERRORS_OF_LESSONS));
      const found = exact.length > 0 ? exact : await read(await findSimilar(trx, search, ERRORS_OF_LESSONS));
      return found.slice(0, query.limit ?? MAX_LESSONS);
    });

  /** Searches the lessons of all agents for people: by words of the error or the lesson, by tool and by code. */
  const search = async (query: LessonSearch): Promise<RecalledReflection[]> => {
    const { q, tool, code, fingerprint, agent, error_type, tenant } = query;
    const found = q === undefined ? undefined : await findTyped(db, { typed: q, tenant }, OF_LESSONS);
    const shares = new Map(found?.map(({ reflection_id, share }) => [reflection_id, share]));
    const ids = found === undefined ? sql`` : sql`and r.id = any(${[...shares.keys()]}::bigint[])`;
    const { rows } = await sql<CurrentRow>`
      select r.* from reflection_current as r
      where not r.retired ${ids}
        ${
          fingerprint === undefined
            ? sql``
            : sql`and r.id in (select reflection_id from recall_texts where fingerprint = ${cleanText(fingerprint)})`
        }
        ${tenant === undefined ? sql`` : sql`and r.tenant is not distinct from ${tenant === null ? null : cleanText(tenant)}::text`}
        ${agent === undefined ? sql`` : sql`and (r.agent = ${cleanText(agent)} or r.scope = 'global')`}
        ${error_type === undefined ? sql`` : sql`and r.error_type = ${cleanText(error_type)}`}
        ${tool === undefined ? sql`` : sql`and exists (select from unnest(r.tools) as t where lower(t) = lower(${cleanText(tool)}))`}
        ${
          code === undefined
            ? sql``
            : sql`and exists (
                select from recall_texts as t where t.reflection_id = r.id and lower(t.error_code) = lower(${cleanText(code)})
              )`
        }
      order by r.id desc
      limit ${found === undefined ? pageSize(query.limit) : shares.size}`.execute(db);
    return rows
      .map((row) => toRecalled({ ...row, score: shares.get(row.id) ?? 0 }, found === undefined ? 'recent' : 'similar'))
      .sort((one, other) => other.score - one.score)
      .slice(0, pageSize(query.limit));
  };

  return {
    get: async (id: number): Promise<(StoredReflection & { retired: boolean }) | null> => {
      const row = await db.selectFrom('reflection_current').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? { ...toStored(row), retired: row.retired } : null;
    },
    bySignature,
    similar,
    recallForFailure,

    search,

    /** Finds the lesson with the same signature or, if `content` is given, the one that is most alike. */
    seen: async (
      query: Reader & { error_signature: string; error_type?: string; content?: string },
    ): Promise<RecalledReflection | null> => {
      const [known] = await bySignature({ ...query, limit: 1 });
      if (known !== undefined || query.content === undefined) return known ?? null;
      const { error_type: _anyType, ...asked } = query;
      return (await similar({ ...asked, content: query.content, limit: 1 }))[0] ?? null;
    },

    /** The errors that a lesson was learnt from, the latest first. */
    errorsOf: async (reflectionId: number): Promise<LessonError[]> => {
      const { rows } = await sql<LessonError>`
        select tool_name, error_code, text, fingerprint from recall_texts
        where reflection_id = ${reflectionId}::bigint and part = 'error' order by id desc`.execute(db);
      return rows;
    },

    /** Lessons for people who maintain them, the latest first. Runs do not use it. */
    listAll: async (query: ListedLessons = {}): Promise<Page<RecalledReflection>> => {
      const size = pageSize(query.limit);
      const equals = (column: string, value: string | undefined) =>
        value === undefined ? [] : [sql`${sql.ref(column)} = ${cleanText(value)}`];
      const where = [
        sql`r.retired = ${query.retired === true}`,
        ...equals('r.error_type', query.error_type),
        ...equals('r.tenant', query.tenant),
        ...(query.agent === undefined ? [] : [sql`(r.agent = ${cleanText(query.agent)} or r.scope = 'global')`]),
        ...(query.cursor === undefined ? [] : [sql`r.id < ${Number(decodeCursor(query.cursor)[0]) || 0}`]),
        ...(query.words ?? []).map(
          (word) => sql`strpos(lower(concat_ws(' ', r.content, r.agent, r.tenant)), ${cleanText(word)}) > 0`,
        ),
      ];
      const { rows } = await sql<Scored>`
        select r.*, 0 as score from reflection_current as r
        where ${sql.join(where, sql` and `)}
        order by r.id desc
        limit ${size + 1}`.execute(db);
      return buildPage(
        rows,
        size,
        (row) => toRecalled(row, 'recent'),
        (row) => [row.id],
      );
    },
  };
};

/** Which lessons `listAll` returns. */
export interface ListedLessons {
  error_type?: string;
  tenant?: string;
  agent?: string;
  /** True lists the retired lessons, and otherwise the others are listed. */
  retired?: boolean;
  /** Words in lower case that text, agent and tenant together contain. */
  words?: string[];
  cursor?: string;
  limit?: number;
}

/** An error that a lesson was learnt from, without secrets. */
export interface LessonError {
  tool_name: string | null;
  error_code: string | null;
  text: string;
  fingerprint: string | null;
}

const SIGNAL_TYPES = signalTypeSchema.options;

/** A lesson that did harm is shown to no run, unless a person pinned it. */
const NOT_QUARANTINED = sql`(r.status <> 'quarantined' or r.pinned)`;

type Scored = CurrentRow & { score: number };

const ofType = (errorType: string | undefined): RawBuilder<unknown> =>
  errorType === undefined ? sql`` : sql`and r.error_type = ${cleanText(errorType)}`;

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

/** By fingerprint, then message, then likeness, then in the order in which the start of a run ranks lessons. */
const rank = (found: readonly { row: CurrentRow; match: FoundText }[]): RecalledReflection[] =>
  found
    .map(({ row, match }) => ({ row, match, lesson: toLesson(row) }))
    .sort(
      (a, b) =>
        RANK[a.match.reason] - RANK[b.match.reason] ||
        b.match.score - a.match.score ||
        compareLessons(a.lesson, b.lesson),
    )
    .map(({ row, match }) => toRecalled({ ...row, score: match.score }, match.reason));

const RANK: Record<MatchReason, number> = { same_fingerprint: 0, same_message: 1, similar: 2 };

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
