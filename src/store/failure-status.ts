import type { Kysely, Selectable } from 'kysely';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';

export type FailureStatusRow = Selectable<Tables['failure_status']>;

/** The status of failures. It is never stored: the view `failure_status` computes it from records and revisions. */
export const createFailureStatus = (db: Kysely<Tables>) => ({
  /** One row per fingerprint, last seen first. */
  forRun: (runId: string): Promise<FailureStatusRow[]> =>
    db
      .selectFrom('failure_status')
      .selectAll()
      .where('run_id', '=', cleanText(runId))
      .orderBy('last_seen_step_id', 'desc')
      .orderBy('fingerprint')
      .execute(),

  of: async (runId: string, fingerprint: string): Promise<FailureStatusRow | null> => {
    const row = await db
      .selectFrom('failure_status')
      .selectAll()
      .where('run_id', '=', cleanText(runId))
      .where('fingerprint', '=', cleanText(fingerprint))
      .executeTakeFirst();
    return row ?? null;
  },
});
