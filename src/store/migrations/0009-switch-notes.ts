import type { Migration } from 'kysely';
import { sql } from 'kysely';

/** People say why when they move a switch; the rule's own reason has columns of its own. */
export const switchNotes: Migration = {
  up: async (db) => {
    await sql`alter table enhancement_switches add column note text`.execute(db);
  },
};
