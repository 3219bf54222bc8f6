import { sql } from 'kysely';
import type { Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

export const reflections: Migration = {
  up: async (db) => {
    // Both are trusted extensions, so no superuser is needed. btree_gin lets one index hold scope, type and trigrams
    // together. With trigrams alone every recall reads the lessons of all other agents (measured on 100,000: 3 to 7
    // times slower below a threshold of 0.85). A GiST index was tried, but its build did not finish within minutes.
    await sql`create extension if not exists pg_trgm`.execute(db);
    await sql`create extension if not exists btree_gin`.execute(db);

    await sql`
      create table reflections (
        id bigint generated always as identity primary key,
        scope text collate "C" not null check (scope in ('agent', 'global')),
        agent text collate "C",
        scope_key text collate "C" not null
          generated always as (case scope when 'global' then 'global' else 'agent:' || agent end) stored,
        error_type text collate "C" not null,
        error_signature text collate "C" not null,
        category text not null default 'reflection' check (category = 'reflection'),
        content text not null,
        rationale text not null,
        tags text[] not null,
        tools text[] not null default '{}',
        context jsonb not null,
        created_at timestamptz not null default now()
      )`.execute(db);
    await sql`
      create unique index reflections_signature on reflections (scope_key, error_signature, error_type)`.execute(db);
    await sql`create index reflections_recent on reflections (scope_key, id)`.execute(db);
    // Without fastupdate, because every recall would read the list of pending entries (measured: 84 ms instead of 5
    // ms).
    await sql`
      create index reflections_similar on reflections using gin (scope_key, error_type, content gin_trgm_ops)
      with (fastupdate = off)`.execute(db);
    await makeAppendOnly(db, 'reflections');

    // Each time a lesson was learnt, including the first time. A repeated write counts once.
    await sql`
      create table reflection_occurrences (
        occurrence_id text collate "C" primary key,
        reflection_id bigint not null references reflections (id),
        stored boolean not null,
        run_id text collate "C",
        similarity real not null,
        created_at timestamptz not null default now()
      )`.execute(db);
    await sql`create index reflection_occurrences_of on reflection_occurrences (reflection_id)`.execute(db);
    await makeAppendOnly(db, 'reflection_occurrences');

    // Each time a lesson was shown to a run, and whether that attempt succeeded. Lessons are ranked by this.
    await sql`
      create table reflection_uses (
        use_id text collate "C" primary key,
        reflection_id bigint not null references reflections (id),
        run_id text collate "C" not null,
        succeeded boolean not null,
        created_at timestamptz not null default now()
      )`.execute(db);
    await sql`create index reflection_uses_of on reflection_uses (reflection_id, succeeded)`.execute(db);
    await makeAppendOnly(db, 'reflection_uses');

    await sql`
      create table reflection_revisions (
        id bigint generated always as identity primary key,
        reflection_id bigint not null references reflections (id),
        action text collate "C" not null check (action in ('retire', 'pin', 'unpin', 'edit')),
        content text check ((action = 'edit') = (content is not null)),
        by text not null,
        reason text,
        created_at timestamptz not null default now()
      )`.execute(db);
    await sql`create index reflection_revisions_of on reflection_revisions (reflection_id, id)`.execute(db);
    await makeAppendOnly(db, 'reflection_revisions');

    // A lesson after the changes that people made. Retiring is permanent; the latest pin or unpin and the latest edit
    // count. Scalar subqueries are computed only for the columns that a reader selects, and after its LIMIT.
    await sql`
      create view reflection_current as
      select
        r.id, r.scope, r.agent, r.scope_key, r.error_type, r.error_signature, r.category,
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
        (
          select count(*) from reflection_uses as u where u.reflection_id = r.id and u.succeeded
        ) as succeeded_count,
        (
          select count(*) from reflection_uses as u where u.reflection_id = r.id and not u.succeeded
        ) as failed_count
      from reflections as r`.execute(db);
  },
};
