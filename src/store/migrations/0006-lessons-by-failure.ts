import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

/** More parts would make the smallest index even smaller, but planning slower. */
const PARTS = 16;

export const lessonsByFailure: Migration = {
  up: async (db) => {
    // The failure that a lesson was learnt from. It is matched exactly before texts are compared.
    await sql`alter table reflections add column fingerprint text collate "C"`.execute(db);
    await sql`
      create index reflections_fingerprint on reflections (scope_key, fingerprint)
      where fingerprint is not null`.execute(db);
    await splitTexts(db);
    // Both the latest occurrence and their number are read from this index.
    await sql`drop index reflection_occurrences_of`.execute(db);
    await sql`
      create index reflection_occurrences_of on reflection_occurrences (reflection_id, created_at)`.execute(db);
    await extendCurrent(db);
    await statusOfLatest(db);
  },
};

/**
 * No key of its own, because the planner would use that index and compare every text of a scope (measured: 50 times
 * slower).
 *
 * With the trigrams of all lessons in one index, each search reads about a hundred lists that are as long as all
 * lessons: 170 ms among 100,000. With parts by scope, a search reads only the lists of its own part: 24 ms, measured
 * side by side.
 */
const splitTexts = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    create table reflection_texts (
      reflection_id bigint not null references reflections (id),
      scope_key text collate "C" not null,
      error_type text collate "C" not null,
      content text not null
    ) partition by hash (scope_key)`.execute(db);
  for (let part = 0; part < PARTS; part += 1) {
    const table = `reflection_texts_${part}`;
    await sql`
      create table ${sql.table(table)} partition of reflection_texts
      for values with (modulus ${sql.lit(PARTS)}, remainder ${sql.lit(part)})`.execute(db);
  }
  await sql`
    insert into reflection_texts (reflection_id, scope_key, error_type, content)
    select id, scope_key, error_type, content from reflections`.execute(db);
  await sql`drop index reflections_similar`.execute(db);
  // Without fastupdate, because every recall would read the list of pending entries (measured: 84 ms instead of 5 ms).
  await sql`
    create index reflection_texts_similar on reflection_texts
    using gin (scope_key, error_type, content gin_trgm_ops) with (fastupdate = off)`.execute(db);
  // Without statistics, because the planner would compare the text with every sample in them: 4 ms per search.
  await sql`alter table reflection_texts alter column content set statistics 0`.execute(db);
  for (let part = 0; part < PARTS; part += 1) await makeAppendOnly(db, `reflection_texts_${part}`);
  await makeAppendOnly(db, 'reflection_texts');
};

/** As in 0003, with the fingerprint and the time of the latest occurrence. */
const extendCurrent = async (db: Kysely<unknown>): Promise<void> => {
  await sql`drop view reflection_current`.execute(db);
  await sql`
    create view reflection_current as
    select
      r.id, r.scope, r.agent, r.scope_key, r.error_type, r.error_signature, r.fingerprint, r.category,
      coalesce(
        (
          select v.content from reflection_revisions as v
          where v.reflection_id = r.id and v.action = 'edit' order by v.id desc limit 1
        ),
        r.content
      ) as content,
      r.content as original_content,
      r.rationale, r.tags, r.tools, r.context, r.created_at,
      exists (
        select from reflection_revisions as v where v.reflection_id = r.id and v.action = 'retire'
      ) as retired,
      coalesce(
        (
          select v.action = 'pin' from reflection_revisions as v
          where v.reflection_id = r.id and v.action in ('pin', 'unpin') order by v.id desc limit 1
        ),
        false
      ) as pinned,
      (select count(*) from reflection_occurrences as o where o.reflection_id = r.id) as occurrence_count,
      coalesce(
        (select max(o.created_at) from reflection_occurrences as o where o.reflection_id = r.id),
        r.created_at
      ) as last_seen_at,
      (
        select count(*) from reflection_uses as u where u.reflection_id = r.id and u.succeeded
      ) as succeeded_count,
      (
        select count(*) from reflection_uses as u where u.reflection_id = r.id and not u.succeeded
      ) as failed_count
    from reflections as r`.execute(db);
};

/**
 * The rule of 0001, applied to the latest record only: by time, then step, then id, of which the shorter is earlier
 * because ids end in a counter. `foldFailures` is the same rule as a pure function.
 */
const statusOfLatest = async (db: Kysely<unknown>): Promise<void> => {
  await sql`drop view failure_status`.execute(db);
  await sql`
    create view failure_status as
    select
      seen.run_id,
      seen.fingerprint,
      case
        when decided.kind is null then 'active'
        when (seen.last_at, seen.last_seen_step_id) > (decided.created_at, decided.step_id) then 'active'
        else decided.kind
      end as status,
      seen.occurrence_count,
      seen.last_seen_step_id,
      coalesce(shown.helpful_count, 0) as helpful_count,
      coalesce(shown.harmful_count, 0) as harmful_count,
      seen.first_failure_id,
      seen.last_failure_id
    from (
      select
        run_id,
        fingerprint,
        count(*) as occurrence_count,
        max(created_at) as last_at,
        (array_agg(step_id order by created_at desc, step_id desc))[1] as last_seen_step_id,
        (
          array_agg(failure_id order by created_at, step_id, length(failure_id), failure_id)
        )[1] as first_failure_id,
        (
          array_agg(failure_id order by created_at desc, step_id desc, length(failure_id) desc, failure_id desc)
        )[1] as last_failure_id
      from failure_records
      group by run_id, fingerprint
    ) as seen
    left join lateral (
      select r.kind, r.created_at, r.step_id
      from failure_revisions as r
      where r.run_id = seen.run_id and r.fingerprint = seen.fingerprint and r.kind in ('resolved', 'superseded')
      order by r.created_at desc, r.step_id desc, coalesce(r.attempt, 0) desc, r.kind desc, r.revision_id desc
      limit 1
    ) as decided on true
    left join lateral (
      select
        count(*) filter (where r.kind = 'shown_helpful') as helpful_count,
        count(*) filter (where r.kind = 'shown_harmful') as harmful_count
      from failure_revisions as r
      where r.run_id = seen.run_id and r.fingerprint = seen.fingerprint
    ) as shown on true`.execute(db);
};
