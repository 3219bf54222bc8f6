import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { Encryption } from '../encryption/encryption.ts';
import { EncryptionKeyError } from '../encryption/errors.ts';
import { cleanText, jsonParameter } from './clean-text.ts';
import { decodeTimeCursor, buildPage, pageSize } from './cursor.ts';
import type { Page } from './cursor.ts';
import { isSealedJson, openJson, SEALED_MEMBER, sealJson } from './sealed-json.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

export interface ArchivedRun {
  run_id: string;
  agent: string;
  goal: string;
  outcome: string;
  /** The run's final status, as its status query would have answered. */
  summary: unknown;
  trace: unknown;
  labels: string[];
  started_at: string;
  ended_at: string;
}

export type ArchivedRunItem = Omit<ArchivedRun, 'trace'>;

export interface ArchivedRunFilter {
  agent?: string;
  outcome?: string;
  label?: string;
  /** Words in lower case. Each has to be in id, agent, goal, labels or tenant. Rows with an encrypted goal are not left out. */
  words?: string[];
  /** ISO time, exclusive. */
  ended_before?: string;
  cursor?: string;
  limit?: number;
}

export const createArchivedRuns = (db: Kysely<Tables>, encryption: Encryption) => ({
  /** Writes a run. The first write is kept; a repeated one returns `written: false`. */
  put: async (run: ArchivedRun): Promise<{ written: boolean }> => {
    const result = await db
      .insertInto('archived_runs')
      .values({
        run_id: cleanText(run.run_id),
        agent: cleanText(run.agent),
        outcome: cleanText(run.outcome),
        ...storedTexts(run, encryption),
        labels: run.labels.map(cleanText),
        started_at: isoMillis(run.started_at),
        ended_at: isoMillis(run.ended_at),
      })
      .onConflict((conflict) => conflict.column('run_id').doNothing())
      .executeTakeFirst();
    return { written: result.numInsertedOrUpdatedRows === 1n };
  },

  get: async (runId: string): Promise<ArchivedRun | null> => {
    const row = await db
      .selectFrom('archived_runs')
      .select([...ITEM_COLUMNS, 'trace'])
      .where('run_id', '=', cleanText(runId))
      .executeTakeFirst();
    if (row === undefined) return null;
    return { ...toItem(row, encryption), trace: openJson(row.trace, encryption, `trace ${row.run_id}`) };
  },

  /** Latest end first, without traces. */
  list: async (filter: ArchivedRunFilter = {}): Promise<Page<ArchivedRunItem>> => {
    const size = pageSize(filter.limit);
    let query = db.selectFrom('archived_runs').select(ITEM_COLUMNS);
    if (filter.agent !== undefined) query = query.where('agent', '=', cleanText(filter.agent));
    if (filter.outcome !== undefined) query = query.where('outcome', '=', cleanText(filter.outcome));
    if (filter.label !== undefined) query = query.where(sql<boolean>`labels @> ${[cleanText(filter.label)]}::text[]`);
    for (const word of filter.words ?? []) if (isAscii(word)) query = query.where(containsWord(word));
    if (filter.ended_before !== undefined) {
      query = query.where('ended_at', '<', new Date(isoMillis(filter.ended_before)));
    }
    if (filter.cursor !== undefined) {
      const { at, id } = decodeTimeCursor(filter.cursor);
      query = query.where(sql<boolean>`(ended_at, run_id) < (${at}::timestamptz, ${cleanText(id)})`);
    }
    const rows = await query
      .orderBy('ended_at', 'desc')
      .orderBy('run_id', 'desc')
      .limit(size + 1)
      .execute();
    return buildPage(
      rows,
      size,
      (row) => toListedItem(row, encryption),
      (row) => [row.ended_at.toISOString(), row.run_id],
    );
  },
});

const ITEM_COLUMNS = [
  'run_id',
  'agent',
  'goal',
  'outcome',
  'summary',
  'labels',
  'started_at',
  'ended_at',
] as const satisfies readonly (keyof ArchivedRun)[];

/** The database may know upper and lower case of ASCII only, so other words are left to the caller. */
// oxlint-disable-next-line no-control-regex -- the range of ASCII
const isAscii = (word: string): boolean => /^[\u0000-\u007f]*$/.test(word);
const containsWord = (word: string) => sql<boolean>`(
  strpos(lower(concat_ws(' ', run_id, agent, goal, array_to_string(labels, ' '), summary #>> '{facts,tenant}')), ${cleanText(word)}) > 0
  or summary -> ${SEALED_MEMBER} is not null)`;

type ItemRow = Pick<Selectable<Tables['archived_runs']>, (typeof ITEM_COLUMNS)[number]>;

/** Goal, inputs and outputs of a run are encrypted; the goal travels with the summary, and its own column is then empty. */
function storedTexts(run: ArchivedRun, encryption: Encryption): { goal: string; summary: string; trace: string } {
  const { summary, trace } = run;
  const run_id = cleanText(run.run_id);
  const goal = cleanText(run.goal);
  if (!encryption.isOn) return { goal, summary: jsonParameter(summary), trace: jsonParameter(trace) };
  return {
    goal: '',
    summary: sealJson(jsonParameter({ goal, summary }), encryption, `summary ${run_id}`),
    trace: sealJson(jsonParameter(trace), encryption, `trace ${run_id}`),
  };
}

/** One run whose key is missing must not make a whole list unreadable. */
function toListedItem(row: ItemRow, encryption: Encryption): ArchivedRunItem {
  try {
    return toItem(row, encryption);
  } catch (error) {
    if (!(error instanceof EncryptionKeyError)) throw error;
    return toItem({ ...row, summary: {} }, encryption);
  }
}

function toItem(row: ItemRow, encryption: Encryption): ArchivedRunItem {
  const texts = isSealedJson(row.summary)
    ? (openJson(row.summary, encryption, `summary ${row.run_id}`) as Pick<ArchivedRun, 'goal' | 'summary'>)
    : { goal: row.goal, summary: row.summary };
  return {
    run_id: row.run_id,
    agent: row.agent,
    goal: texts.goal,
    outcome: row.outcome,
    summary: texts.summary,
    labels: row.labels,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at.toISOString(),
  };
}
