import { sql } from 'kysely';
import type { Migration } from 'kysely';
import { createAppendOnlyGuard, makeAppendOnly } from './append-only.ts';

/**
 * Records, revisions, and the status that is computed from both. Ids are sorted by bytes (`C`), the same on every
 * machine.
 */
export const failureMemory: Migration = {
  up: async (db) => {
    await createAppendOnlyGuard(db);

    await sql`
      create table failure_records (
        failure_id text collate "C" primary key,
        run_id text collate "C" not null,
        step_id bigint not null,
        phase text not null,
        signal_type text not null,
        severity text not null,
        fingerprint text collate "C" not null,
        attempted_action jsonb not null,
        observed_outcome jsonb not null,
        recommended_adjustment jsonb not null,
        context_refs jsonb not null,
        created_at timestamptz not null,
        agent text collate "C",
        recorded_at timestamptz not null default now()
      )`.execute(db);
    await sql`create index failure_records_run on failure_records (run_id, fingerprint)`.execute(db);
    await sql`create index failure_records_fingerprint on failure_records (fingerprint, created_at)`.execute(db);
    await sql`create index failure_records_created on failure_records (created_at, failure_id)`.execute(db);
    await sql`create index failure_records_agent on failure_records (agent, created_at)`.execute(db);
    await makeAppendOnly(db, 'failure_records');

    await sql`
      create table failure_revisions (
        revision_id text collate "C" primary key,
        run_id text collate "C" not null,
        fingerprint text collate "C" not null,
        failure_id text collate "C",
        kind text collate "C" not null check (kind in ('resolved', 'superseded', 'shown_helpful', 'shown_harmful')),
        step_id bigint not null,
        attempt integer,
        by text not null,
        reason text,
        created_at timestamptz not null,
        recorded_at timestamptz not null default now()
      )`.execute(db);
    await sql`create index failure_revisions_run on failure_revisions (run_id, fingerprint)`.execute(db);
    await makeAppendOnly(db, 'failure_revisions');

    // The rule: per run and fingerprint the latest 'resolved' or 'superseded' revision decides, latest by (created_at,
    // step_id, attempt, kind, revision_id), unless a record came after it by (created_at, step_id), which makes the
    // failure active again. A revision at the same instant and step as a record applies, because it is about that
    // record.
    await sql`
      create view failure_status as
      select
        seen.run_id,
        seen.fingerprint,
        case
          when decided.kind is null then 'active'
          when (seen.last_at, seen.last_step_id) > (decided.created_at, decided.step_id) then 'active'
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
          max(step_id) as last_seen_step_id,
          max(created_at) as last_at,
          (array_agg(step_id order by created_at desc, step_id desc))[1] as last_step_id,
          (array_agg(failure_id order by created_at, step_id, failure_id))[1] as first_failure_id,
          (array_agg(failure_id order by created_at desc, step_id desc, failure_id desc))[1] as last_failure_id
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
  },
};
