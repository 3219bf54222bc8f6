import { sql } from 'kysely';
import type { Migration } from 'kysely';

/** A policy that counts biases over all runs counts those of its tenant, and lessons are found by their failure. */
export const biasTenants: Migration = {
  up: async (db) => {
    await sql`alter table bias_counts add column tenant text collate "C"`.execute(db);
    // People ask for the lessons of a failure without naming an agent.
    await sql`
      create index recall_texts_lessons_of on recall_texts (fingerprint) where reflection_id is not null`.execute(db);
  },
};
