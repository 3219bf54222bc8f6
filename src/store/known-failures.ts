import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import type { KnownFailure, LessonOfFailure } from '../protocol/known-failures.ts';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import { failureScope } from './recall-texts.ts';
import { findErrorTexts, findTyped, OF_FAILURES } from './recall-search.ts';
import type { MatchReason } from './recall-search.ts';
import { prepareSearch } from './reflection-scope.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

type Group = Omit<KnownFailure, 'first_seen' | 'last_seen' | 'status' | 'days' | 'lesson'> & {
  first_seen: Date;
  last_seen: Date;
};
type LessonRow = Omit<LessonOfFailure, 'learnt_at'> & { fingerprint: string; learnt_at: Date };

export interface KnownFailureFilter {
  since: string;
  agent?: string | undefined;
  /** Without it, the failures of all tenants. */
  tenant?: string | undefined;
  /** Words, or beginnings of words, of the message, the tool, the code or the agent; or a fingerprint. */
  q?: string | undefined;
  tool?: string | undefined;
  code?: string | undefined;
  limit?: number | undefined;
}

/** A failure that was recorded before, found by its message. */
export interface SeenFailure {
  fingerprint: string;
  reason: MatchReason;
  score: number;
  occurrence_count: number;
  run_count: number;
  last_seen: string;
}

export const createKnownFailures = (db: Kysely<Tables>) => ({
  /** The failure that a message repeats, also in other words, if it was recorded before. Only failures of the tenant count. */
  seen: (query: {
    text: string;
    fingerprint?: string | undefined;
    tool?: string | undefined;
    code?: string | undefined;
    tenant: string | null;
    /** A report does not count as having been seen before itself. */
    except_failure_id?: string;
  }): Promise<SeenFailure | null> =>
    db.transaction().execute(async (trx) => {
      await prepareSearch(trx, { timeout_ms: SEARCH_MS });
      const { text, fingerprint, tool, code, tenant } = query;
      const ofTool = tool === undefined ? sql`` : sql`and t.tool_name = ${cleanText(tool)}`;
      const ofCode = code === undefined ? sql`` : sql`and t.error_code = ${cleanText(code)}`;
      const which = sql`(t.part = 'failure' ${ofTool} ${ofCode})`;
      const found = await findErrorTexts(trx, { scopes: [failureScope(tenant)], text, fingerprint }, which);
      const names = found.slice(0, SEEN_CANDIDATES).flatMap((match) => match.fingerprint ?? []);
      if (names.length === 0) return null;
      const { rows } = await sql<Omit<SeenFailure, 'reason' | 'score' | 'last_seen'> & { last_seen: Date }>`
        select fingerprint, count(*)::int as occurrence_count, count(distinct run_id)::int as run_count,
          max(created_at) as last_seen
        from failure_records
        where fingerprint = any(${names}::text[]) and tenant is not distinct from ${tenant}::text
          and failure_id <> ${query.except_failure_id ?? ''}
        group by fingerprint`.execute(trx);
      for (const { fingerprint: about, reason, score } of found) {
        const row = rows.find((one) => one.fingerprint === about);
        if (row !== undefined) return { ...row, reason, score, last_seen: row.last_seen.toISOString() };
      }
      return null;
    }),

  /** The fingerprints since a time, the one that was seen last first; of a search, the best match first. */
  list: async (filter: KnownFailureFilter): Promise<KnownFailure[]> => {
    const since = isoMillis(filter.since);
    const { q, tenant } = filter;
    const found = q === undefined ? null : await findTyped(db, { typed: q, tenant }, OF_FAILURES);
    const shares = new Map(found?.map(({ fingerprint, share }) => [fingerprint ?? '', share]));
    const where = [
      sql`created_at >= ${since}::timestamptz`,
      ...(filter.agent === undefined ? [] : [sql`agent = ${cleanText(filter.agent)}`]),
      ...(tenant === undefined ? [] : [sql`tenant = ${cleanText(tenant)}`]),
      ...(filter.tool === undefined
        ? []
        : [sql`lower(attempted_action->>'tool_name') = lower(${cleanText(filter.tool)})`]),
      ...(filter.code === undefined
        ? []
        : [sql`lower(observed_outcome->>'error_code') = lower(${cleanText(filter.code)})`]),
      ...(q === undefined ? [] : [matchTyped([...shares.keys()], cleanText(q))]),
    ];
    const { rows } = await sql<Group>`
      select
        fingerprint,
        count(*)::int as occurrence_count,
        count(distinct run_id)::int as run_count,
        coalesce(array_agg(distinct agent) filter (where agent is not null), '{}') as agents,
        min(created_at) as first_seen,
        max(created_at) as last_seen,
        min(signal_type) as signal_type,
        min(attempted_action->>'tool_name') as tool_name,
        min(observed_outcome->>'error_code') as error_code,
        (array_agg(observed_outcome->>'message_preview' order by created_at desc))[1] as message_preview
      from failure_records
      where ${sql.join(where, sql` and `)}
      group by fingerprint
      order by last_seen desc, fingerprint
      limit ${found === null ? pageSize(filter.limit) : Math.max(pageSize(filter.limit), shares.size)}`.execute(db);
    // Sorting keeps the order of equal matches, so the latest of them comes first.
    const groups = rows
      .sort((one, other) => (shares.get(other.fingerprint) ?? 0) - (shares.get(one.fingerprint) ?? 0))
      .slice(0, pageSize(filter.limit));
    const names = groups.map((group) => group.fingerprint);
    if (names.length === 0) return [];
    const [days, active, lessons] = await Promise.all([
      countDays(db, names, since, tenant),
      findActive(db, names, tenant),
      findLessons(db, names, tenant),
    ]);
    return groups.map((group) => ({
      ...group,
      first_seen: group.first_seen.toISOString(),
      last_seen: group.last_seen.toISOString(),
      status: active.has(group.fingerprint) ? 'active' : 'resolved',
      days: days.get(group.fingerprint) ?? [],
      lesson: lessons.get(group.fingerprint) ?? null,
    }));
  },
});

const SEARCH_MS = 2_000;
const SEEN_CANDIDATES = 20;

/** What was found by its words, and what has the typed text as its fingerprint or its agent. */
const matchTyped = (fingerprints: string[], typed: string): RawBuilder<unknown> =>
  sql`(fingerprint = any(${fingerprints}::text[]) or starts_with(fingerprint, ${typed}) or lower(agent) = lower(${typed}))`;

async function countDays(
  db: Kysely<Tables>,
  names: string[],
  since: string,
  tenant: string | undefined,
): Promise<Map<string, KnownFailure['days']>> {
  const { rows } = await sql<{ fingerprint: string; day: string; occurrence_count: number }>`
    select fingerprint, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as occurrence_count
    from failure_records
    where fingerprint = any(${names}) and created_at >= ${since}::timestamptz ${ofTenant('failure_records', tenant)}
    group by 1, 2
    order by 2`.execute(db);
  const days = new Map<string, KnownFailure['days']>();
  for (const { fingerprint, ...day } of rows) days.set(fingerprint, [...(days.get(fingerprint) ?? []), day]);
  return days;
}

const ofTenant = (table: string, tenant: string | undefined): RawBuilder<unknown> =>
  tenant === undefined ? sql`` : sql`and ${sql.table(table)}.tenant = ${cleanText(tenant)}`;

async function findActive(db: Kysely<Tables>, names: string[], tenant: string | undefined): Promise<Set<string>> {
  const ofRuns =
    tenant === undefined
      ? sql``
      : sql`and run_id in (
          select run_id from failure_records where fingerprint = any(${names}) ${ofTenant('failure_records', tenant)}
        )`;
  const { rows } = await sql<{ fingerprint: string }>`
    select distinct fingerprint from failure_status
    where fingerprint = any(${names}) and status = 'active' ${ofRuns}`.execute(db);
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

/** A run belongs to the side on which it met the failure first. */
async function findLessons(
  db: Kysely<Tables>,
  names: string[],
  tenant: string | undefined,
): Promise<Map<string, LessonOfFailure>> {
  const { rows } = await sql<LessonRow>`
    with lesson as (
      select distinct on (fingerprint) id, fingerprint, content, created_at
      from reflection_current
      where fingerprint = any(${names}) and not retired ${ofTenant('reflection_current', tenant)}
      order by fingerprint, occurrence_count desc, id
    ),
    run as (
      select lesson.fingerprint, min(f.created_at) > lesson.created_at as is_after, count(*) as failures
      from lesson join failure_records as f on f.fingerprint = lesson.fingerprint ${ofTenant('f', tenant)}
      group by lesson.fingerprint, lesson.created_at, f.run_id
    )
    select
      lesson.id, lesson.fingerprint, lesson.content, lesson.created_at as learnt_at,
      (avg(run.failures) filter (where not run.is_after))::float8 as per_run_before,
      (avg(run.failures) filter (where run.is_after))::float8 as per_run_after,
      (count(*) filter (where not run.is_after))::int as runs_before,
      (count(*) filter (where run.is_after))::int as runs_after
    from lesson join run on run.fingerprint = lesson.fingerprint
    group by lesson.id, lesson.fingerprint, lesson.content, lesson.created_at`.execute(db);
  return new Map(
    rows.map(({ fingerprint, learnt_at, ...lesson }) => [
      fingerprint,
      { ...lesson, learnt_at: learnt_at.toISOString() },
    ]),
  );
}
