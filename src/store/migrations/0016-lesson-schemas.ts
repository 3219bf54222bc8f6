import { sql } from 'kysely';
import type { Migration } from 'kysely';

/** The schemas of the tools when a lesson was learnt, so that a changed schema supersedes it. Older rows have none. */
export const lessonSchemas: Migration = {
  up: async (db) => {
    await sql`alter table reflection_occurrences add column tool_schemas jsonb`.execute(db);
  },
};
