import { sql } from 'kysely';
import type { Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

export const evaluationsAndSwitches: Migration = {
  up: async (db) => {
    // Each attempt as it was, so that the figures above can be recomputed and a remaining failure can be inspected.
    await sql`
      alter table retry_monitors
        add column subject text,
        add column ok_at integer,
        add column attempt_list jsonb not null default '[]',
        add column other_ms bigint not null default 0,
        add column other_cost_micro_usd bigint not null default 0`.execute(db);
    await sql`
      update retry_monitors set ok_at = case when first_ok then 0 when final_ok then attempts - 1 end`.execute(db);
    // Finds the same subject with other models. Subjects may be long, so the index has their hash.
    await sql`
      create index retry_monitors_subject on retry_monitors (md5(subject)) where subject is not null`.execute(db);

    await sql`
      create table enhancement_switches (
        id bigint generated always as identity primary key,
        agent text collate "C" not null,
        enhancement text collate "C" not null check (enhancement in ('on', 'off')),
        reason text collate "C" check ((enhancement = 'off') = (reason is not null)),
        sentence text check ((enhancement = 'off') = (sentence is not null)),
        judgement jsonb,
        by text not null,
        at timestamptz not null default clock_timestamp()
      )`.execute(db);
    await sql`create index enhancement_switches_agent on enhancement_switches (agent, id)`.execute(db);
    await makeAppendOnly(db, 'enhancement_switches');

    // Parts that could not be stored, and why. Each is written once, however often a run repeats its write.
    await sql`
      create table refused_parts (
        id bigint generated always as identity primary key,
        run_id text collate "C" not null,
        kind text collate "C" not null,
        part_id text collate "C" not null,
        reason text not null,
        created_at timestamptz not null default now(),
        unique (run_id, kind, part_id)
      )`.execute(db);
    await makeAppendOnly(db, 'refused_parts');

    // Every start reads this if its policy counts biases globally.
    await sql`drop index bias_counts_tag`.execute(db);
    await sql`create index bias_counts_tag on bias_counts (tag, family)`.execute(db);
  },
};
