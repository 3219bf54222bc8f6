import { sql } from 'kysely';
import type { Migration } from 'kysely';

export const archivedGuards: Migration = {
  up: async (db) => {
    // A family's name is never reused, so this outlives Temporal's retention. `json`, not `jsonb`, because the order of
    // keys is part of an answer's bytes.
    await sql`
      create table archived_guards (
        family text collate "C" primary key,
        ending json not null,
        started_at timestamptz not null,
        ended_at timestamptz not null,
        archived_at timestamptz not null default now()
      )`.execute(db);
  },
};
