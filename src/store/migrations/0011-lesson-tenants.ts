import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

/** Lessons belong to a tenant, and values that no error or schema explains wait until different runs agree on them. */
export const lessonTenants: Migration = {
  up: async (db) => {
    await sql`drop view reflection_current`.execute(db);
    await sql`alter table reflections add column tenant text collate "C"`.execute(db);
    await keyWithTenant(db);
    await createClaims(db);
    await currentWithTenant(db);
  },
};

/** The key of a lesson begins with its tenant, so that every search is bounded by it. Lessons without one keep their key. */
const keyWithTenant = async (db: Kysely<unknown>): Promise<void> => {
  // Dropping the column drops its indexes too.
  await sql`alter table reflections drop column scope_key`.execute(db);
  await sql`
    alter table reflections add column scope_key text collate "C" not null
    generated always as (
      coalesce('tenant:' || tenant || '/', '') || case scope when 'global' then 'global' else 'agent:' || agent end
    ) stored`.execute(db);
  await sql`
    create unique index reflections_signature on reflections (scope_key, error_signature, error_type)`.execute(db);
  await sql`create index reflections_recent on reflections (scope_key, id)`.execute(db);
  await sql`
    create index reflections_fingerprint on reflections (scope_key, fingerprint)
    where fingerprint is not null`.execute(db);
};

const createClaims = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    create table reflection_claims (
      scope_key text collate "C" not null,
      fingerprint text collate "C" not null,
      claim text collate "C" not null,
      run_id text collate "C" not null,
      goal_hash text collate "C" not null,
      input_hash text collate "C" not null,
      created_at timestamptz not null default now(),
      primary key (scope_key, fingerprint, claim, run_id)
    )`.execute(db);
  await makeAppendOnly(db, 'reflection_claims');
};

/** As in 0006, with the tenant. */
const currentWithTenant = async (db: Kysely<unknown>): Promise<void> => {
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
