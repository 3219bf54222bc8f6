import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { KnownFailure, LessonOfFailure } from '../protocol/known-failures.ts';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

type Group = Omit<KnownFailure, 'first_seen' | 'last_seen' | 'status' | 'days' | 'lesson'> & {
  first_seen: Date;
  last_seen: Date;
};
type LessonRow = Omit<LessonOfFailure, 'learnt_at'> & { fingerprint: string; learnt_at: Date };

export const createKnownFailures = (db: Kysely<Tables>) => ({
  /** The fingerprints since a time, the one that was seen last first. */
  list: async (filter: { since: string; agent?: string; limit?: number }): Promise<KnownFailure[]> => {
    const since = isoMillis(filter.since);
    const agent = filter.agent === undefined ? sql`` : sql`and agent = ${cleanText(filter.agent)}`;
    const { rows: groups } = await sql<Group>`
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
      where created_at >= ${since}::timestamptz ${agent}
      group by fingerprint
      order by last_seen desc, fingerprint
      limit ${pageSize(filter.limit)}`.execute(db);
    const names = groups.map((group) => group.fingerprint);
    if (names.length === 0) return [];
    const [days, active, lessons] = await Promise.all([
      countDays(db, names, since),
      findActive(db, names),
      findLessons(db, names),
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

async function countDays(
  db: Kysely<Tables>,
  names: string[],
  since: string,
): Promise<Map<string, KnownFailure['days']>> {
  const { rows } = await sql<{ fingerprint: string; day: string; occurrence_count: number }>`
    select fingerprint, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as occurrence_count
    from failure_records
    where fingerprint = any(${names}) and created_at >= ${since}::timestamptz
    group by 1, 2
    order by 2`.execute(db);
  const days = new Map<string, KnownFailure['days']>();
  for (const { fingerprint, ...day } of rows) days.set(fingerprint, [...(days.get(fingerprint) ?? []), day]);
  return days;
}

async function findActive(db: Kysely<Tables>, names: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ fingerprint: string }>`
    select distinct fingerprint from failure_status
    where fingerprint = any(${names}) and status = 'active'`.execute(db);
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

/** A run belongs to the side on which it met the failure first. */
async function findLessons(db: Kysely<Tables>, names: string[]): Promise<Map<string, LessonOfFailure>> {
  const { rows } = await sql<LessonRow>`
    with lesson as (
      select distinct on (fingerprint) id, fingerprint, content, created_at
      from reflection_current
      where fingerprint = any(${names}) and not retired
      order by fingerprint, occurrence_count desc, id
    ),
    run as (
      select lesson.fingerprint, min(f.created_at) > lesson.created_at as is_after, count(*) as failures
      from lesson join failure_records as f on f.fingerprint = lesson.fingerprint
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
