import { sql } from 'kysely';
import type { Migration } from 'kysely';

/** Which request a key was first used with. A key names its run only where the request does not name one itself. */
export const startKeys: Migration = {
  up: async (db) => {
    await sql`
      create table start_keys (
        key text collate "C" primary key,
        request_hash text collate "C" not null,
        claimed_at timestamptz not null default now()
      )`.execute(db);
  },
};
