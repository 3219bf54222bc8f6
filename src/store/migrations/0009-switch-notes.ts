import type { Migration } from 'kysely';
import { sql } from 'kysely';

/** The note of a person who changes a switch. The rule's own reason has columns of its own. */
export const switchNotes: Migration = {
  up: async (db) => {
    await sql`alter table enhancement_switches add column note text`.execute(db);
  },
};
