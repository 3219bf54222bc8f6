import { sql } from 'kysely';
import type { Migration } from 'kysely';

export const reservations: Migration = {
  up: async (db) => {
    // If two starts want the same name, run id or key at the same time, one of these unique indexes refuses one of
    // them.
    await sql`
      create table reservations (
        family text collate "C" primary key,
        run_id text collate "C" unique,
        start_key text collate "C" unique,
        request_hash text collate "C",
        reserved_at timestamptz not null default now(),
        check ((start_key is null) = (request_hash is null))
      )`.execute(db);
  },
};
