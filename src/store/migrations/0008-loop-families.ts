import { sql } from 'kysely';
import type { Migration } from 'kysely';

export const loopFamilies: Migration = {
  up: async (db) => {
    // Two who want the same name at the same time meet here, and one of them is told no.
    await sql`
      create table loop_families (
        family text collate "C" primary key,
        run_id text collate "C",
        claimed_at timestamptz not null default now()
      )`.execute(db);
  },
};
