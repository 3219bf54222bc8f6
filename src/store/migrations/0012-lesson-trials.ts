import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

/** Observations of lessons on trial, the verdicts that follow from them, and `restore` as a change that people make. */
export const lessonTrials: Migration = {
  up: async (db) => {
    await sql`
      create table reflection_trials (
        id bigint generated always as identity primary key,
        reflection_id bigint not null references reflections (id),
        run_id text collate "C" not null,
        phase text collate "C" not null,
        shown boolean not null,
        share_shown double precision not null check (share_shown > 0 and share_shown < 1),
        first_ok boolean not null,
        attempts integer not null,
        same_again boolean not null,
        created_at timestamptz not null default now(),
        unique (reflection_id, run_id)
      )`.execute(db);
    await sql`create index reflection_trials_of on reflection_trials (reflection_id, phase, id)`.execute(db);
    await makeAppendOnly(db, 'reflection_trials');
    await sql`
      create table reflection_verdicts (
        id bigint generated always as identity primary key,
        reflection_id bigint not null references reflections (id),
        phase text collate "C" not null,
        status text collate "C" not null check (status in ('proven', 'quarantined')),
        shown integer not null,
        withheld integer not null,
        effect double precision not null,
        low double precision not null,
        high double precision not null,
        created_at timestamptz not null default clock_timestamp()
      )`.execute(db);
    await sql`create index reflection_verdicts_of on reflection_verdicts (reflection_id, id)`.execute(db);
    await makeAppendOnly(db, 'reflection_verdicts');
    await sql`alter table reflection_revisions drop constraint reflection_revisions_action_check`.execute(db);
    await sql`
      alter table reflection_revisions add constraint reflection_revisions_action_check
      check (action in ('retire', 'restore', 'pin', 'unpin', 'edit'))`.execute(db);
    await sql`drop view reflection_current`.execute(db);
    await currentWithStatus(db);
  },
};

/** As in 0011, with the status that trials and people gave a lesson. */
const currentWithStatus = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    create view reflection_current as
    select
      r.id, r.scope, r.agent, r.tenant, r.scope_key, r.error_type, r.error_signature, r.fingerprint, r.category,
      coalesce(
        (
          select v.content from reflection_revisions as v
          where v.reflection_id = r.id and v.action = 'edit' order by v.id desc limit 1
        ),
        r.content
      ) as content,
      r.content as original_content,
      r.rationale, r.tags, r.tools, r.context, r.created_at,
      coalesce(
        (
          select v.action = 'retire' from reflection_revisions as v
          where v.reflection_id = r.id and v.action in ('retire', 'restore') order by v.id desc limit 1
        ),
        false
      ) as retired,
      coalesce(
        (
          select v.action = 'pin' from reflection_revisions as v
          where v.reflection_id = r.id and v.action in ('pin', 'unpin') order by v.id desc limit 1
        ),
        false
      ) as pinned,
      coalesce(s.status, 'candidate') as status,
      coalesce(s.phase, '0') as phase,
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
    from reflections as r
    left join lateral (
      select status, phase from (
        select v.status, 'v' || v.id as phase, v.created_at from reflection_verdicts as v where v.reflection_id = r.id
        union all
        select 'candidate', 'r' || v.id, v.created_at from reflection_revisions as v
        where v.reflection_id = r.id and v.action in ('restore', 'edit')
      ) as changes
      order by created_at desc, phase desc limit 1
    ) as s on true`.execute(db);
};
