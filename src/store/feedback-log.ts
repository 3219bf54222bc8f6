import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { FeedbackEntry, FeedbackSource } from '../protocol/lessons.ts';
import { cleanText } from './clean-text.ts';
import { decodeCursor, buildPage, pageSize } from './cursor.ts';
import type { Page } from './cursor.ts';
import { StoreInputError } from './store-errors.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

/** An entry as it is read. An imported entry has no run. */
export type StoredFeedbackEntry = Omit<FeedbackEntry, 'entry_id' | 'run_id' | 'source' | 'prompts'> & {
  run_id: string | null;
  source: FeedbackSource;
};

/** How often an action was applied, and how often success followed: the attempt succeeded, or the person's run completed. */
export interface ActionEffect {
  source: FeedbackSource;
  feedback_type: string;
  action: string;
  n: number;
  succeeded: number;
}

export interface NewFeedbackLogEntry extends Omit<StoredFeedbackEntry, 'source'> {
  source?: FeedbackSource;
  /** Writing an entry with the same id again has no effect. Without an id, every call adds an entry. */
  entry_id?: string;
}

export const createFeedbackLog = (db: Kysely<Tables>) => ({
  append: async (entries: readonly NewFeedbackLogEntry[]): Promise<{ written: number }> => {
    if (entries.length === 0) return { written: 0 };
    const result = await db
      .insertInto('feedback_log')
      .values(entries.map(toRow))
      .onConflict((conflict) => conflict.column('entry_id').doNothing())
      .executeTakeFirst();
    return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
  },

  /**
   * Which actions were followed by success, by source and type, the most frequent first. An action after a person's feedback counts
   * once its run has ended. Prompts that were refined outside of runs are left out, because nothing is known of what followed.
   */
  effectiveness: async ({ since }: { since?: string } = {}): Promise<ActionEffect[]> => {
    const from = since === undefined ? null : isoMillis(since);
    const { rows } = await sql<ActionEffect>`
      select source, feedback_type, action, count(*)::int as n,
        (count(*) filter (where followed))::int as succeeded
      from (
        select l.source, l.feedback_type, unnest(l.actions_applied) as action,
          case when l.source = 'tool_output' then l.success else r.outcome = 'completed' end as followed
        from feedback_log as l left join archived_runs as r on l.source = 'person' and r.run_id = l.run_id
        where l.run_id is not null and (l.source = 'tool_output' or r.run_id is not null)
          and (${from}::timestamptz is null or l.timestamp >= ${from}::timestamptz)
      ) as applied
      group by source, feedback_type, action
      order by n desc, source, feedback_type, action`.execute(db);
    return rows;
  },

  /** Latest first. */
  list: async (
    filter: { run_id?: string; feedback_type?: string; cursor?: string; limit?: number } = {},
  ): Promise<Page<StoredFeedbackEntry>> => {
    const size = pageSize(filter.limit);
    let query = db.selectFrom('feedback_log').selectAll();
    if (filter.run_id !== undefined) query = query.where('run_id', '=', cleanText(filter.run_id));
    if (filter.feedback_type !== undefined) query = query.where('feedback_type', '=', cleanText(filter.feedback_type));
    if (filter.cursor !== undefined) query = query.where('id', '<', idOfCursor(filter.cursor));
    const rows = await query
      .orderBy('id', 'desc')
      .limit(size + 1)
      .execute();
    return buildPage(
      rows,
      size,
      ({ id: _id, entry_id: _entryId, timestamp, ...entry }) => ({ ...entry, timestamp: timestamp.toISOString() }),
      (row) => [row.id],
    );
  },
});

const toRow = (entry: NewFeedbackLogEntry) => ({
  entry_id: cleanText(entry.entry_id ?? randomUUID()),
  run_id: entry.run_id === null ? null : cleanText(entry.run_id),
  timestamp: isoMillis(entry.timestamp),
  original_prompt: cleanText(entry.original_prompt),
  feedback_type: cleanText(entry.feedback_type),
  feedback_signal: cleanText(entry.feedback_signal),
  actions_applied: entry.actions_applied.map(cleanText),
  refined_prompt: cleanText(entry.refined_prompt),
  iteration: entry.iteration,
  success: entry.success,
  source: entry.source ?? 'person',
});

const idOfCursor = (cursor: string): number => {
  const [id] = decodeCursor(cursor);
  if (!Number.isSafeInteger(id)) throw new StoreInputError('cursor', 'not a cursor of this list');
  return Number(id);
};
