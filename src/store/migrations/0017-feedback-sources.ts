import { sql } from 'kysely';
import type { Migration } from 'kysely';

/** Whether a person or the output of a tool led to a refinement. Older rows came from people. */
export const feedbackSources: Migration = {
  up: async (db) => {
    await sql`
      alter table feedback_log add column source text collate "C" not null default 'person'
        check (source in ('person', 'tool_output'))`.execute(db);
  },
};
