import { sql } from 'kysely';
import type { Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

export const feedbackAndCounts: Migration = {
  up: async (db) => {
    await sql`
      create table feedback_log (
        id bigint generated always as identity primary key,
        entry_id text collate "C" not null unique,
        run_id text collate "C",
        timestamp timestamptz not null,
        original_prompt text not null,
        feedback_type text collate "C" not null,
        feedback_signal text not null,
        actions_applied text[] not null,
        refined_prompt text not null,
        iteration integer not null,
        success boolean not null
      )`.execute(db);
    await sql`create index feedback_log_run on feedback_log (run_id, id)`.execute(db);
    await sql`create index feedback_log_type on feedback_log (feedback_type, id)`.execute(db);
    await makeAppendOnly(db, 'feedback_log');

    await sql`
      create table bias_counts (
        tag text collate "C" not null,
        family text collate "C" not null,
        loop_id text collate "C" not null,
        created_at timestamptz not null default now(),
        primary key (family, loop_id, tag)
      )`.execute(db);
    await sql`create index bias_counts_tag on bias_counts (tag)`.execute(db);

    await sql`
      create table retry_monitors (
        id bigint generated always as identity primary key,
        run_id text collate "C" not null,
        step_id bigint not null,
        agent text collate "C" not null,
        model text collate "C",
        attempts integer not null check (attempts >= 1),
        first_ok boolean not null,
        final_ok boolean not null,
        category text,
        base_ms bigint not null,
        added_ms bigint not null,
        base_cost_micro_usd bigint not null,
        added_cost_micro_usd bigint not null,
        created_at timestamptz not null,
        unique (run_id, step_id)
      )`.execute(db);
    await sql`create index retry_monitors_agent on retry_monitors (agent, id)`.execute(db);
    await sql`create index retry_monitors_agent_model on retry_monitors (agent, model, id)`.execute(db);
    await sql`create index retry_monitors_created on retry_monitors (created_at)`.execute(db);
  },
};
