import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { FeedbackEntry } from '../protocol/lessons.ts';
import { cleanText } from './clean-text.ts';
import { decodeCursor, buildPage, pageSize } from './cursor.ts';
import type { Page } from './cursor.ts';
import { StoreInputError } from './store-errors.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

/** An entry as it is read. An imported entry has no run. */
export type StoredFeedbackEntry = Omit<FeedbackEntry, 'entry_id' | 'run_id'> & { run_id: string | null };

export interface NewFeedbackLogEntry extends StoredFeedbackEntry {
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
});

const idOfCursor = (cursor: string): number => {
  const [id] = decodeCursor(cursor);
  if (!Number.isSafeInteger(id)) throw new StoreInputError('cursor', 'not a cursor of this list');
  return Number(id);
};
