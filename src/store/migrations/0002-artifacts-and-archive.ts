import { sql } from 'kysely';
import type { Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

export const artifactsAndArchive: Migration = {
  up: async (db) => {
    // The check makes the database itself guarantee content addressing: no writer can store a wrong id.
    await sql`
      create table artifacts (
        id text collate "C" primary key check (id = encode(sha256(content), 'hex')),
        content bytea not null,
        media_type text not null,
        bytes bigint not null check (bytes = length(content)),
        created_at timestamptz not null default now()
      )`.execute(db);
    await makeAppendOnly(db, 'artifacts');

    // Runs are kept here after Temporal's retention. Not append-only, so that an operator can delete old runs.
    await sql`
      create table archived_runs (
        run_id text collate "C" primary key,
        agent text collate "C" not null,
        goal text not null,
        outcome text collate "C" not null,
        summary jsonb not null,
        trace jsonb not null,
        labels text[] not null default '{}',
        started_at timestamptz not null,
        ended_at timestamptz not null,
        archived_at timestamptz not null default now()
      )`.execute(db);
    await sql`create index archived_runs_ended on archived_runs (ended_at, run_id)`.execute(db);
    await sql`create index archived_runs_agent on archived_runs (agent, ended_at, run_id)`.execute(db);
    await sql`create index archived_runs_outcome on archived_runs (outcome, ended_at, run_id)`.execute(db);
    await sql`create index archived_runs_labels on archived_runs using gin (labels)`.execute(db);
  },
};
