import { sql } from 'kysely';
import type { Migration } from 'kysely';

/** Whether an evaluation enhanced prompts or is part of the baseline. Older rows have no arm: they enhanced prompts. */
export const enhancementArms: Migration = {
  up: async (db) => {
    await sql`
      alter table retry_monitors add column arm text collate "C" check (arm in ('enhanced', 'baseline', 'off'))`.execute(
      db,
    );
  },
};
