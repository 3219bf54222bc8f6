import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import { failureRecordSchema } from '../protocol/schemas/failure-record.ts';
import type { FailureRecord } from '../protocol/schemas/failure-record.ts';
import { cleanText, jsonParameter } from './clean-text.ts';
import { decodeTimeCursor, buildPage, pageSize } from './cursor.ts';
import type { Page } from './cursor.ts';
import { failureScope, searchableNames, searchableText, writeRecallTexts } from './recall-texts.ts';
import { isRefusedRow, messageOf } from './store-errors.ts';
import type { Tables } from './tables.ts';
import { firstIssue, isoMillis } from './validation.ts';

export interface AppendResult {
  written: number;
  /** Records whose failure_id exists already. The first write is kept. */
  duplicates: number;
  refused: { failure_id: string | null; reason: string }[];
}

export interface FailureRecordFilter {
  run_id?: string;
  agent?: string;
  fingerprint?: string;
  /** Without it, the failures of all tenants. */
  tenant?: string | undefined;
  /** ISO time, inclusive. */
  since?: string;
  cursor?: string;
  limit?: number;
}

export interface FingerprintDay {
  day: string;
  fingerprint: string;
  occurrence_count: number;
  run_count: number;
}

export const createFailureRecords = (db: Kysely<Tables>) => ({
  /**
   * Writes a batch in one statement. A record that cannot be stored is refused with a reason, and the others are
   * written.
   */
  append: async (records: readonly FailureRecord[], options: RecordOrigin = {}): Promise<AppendResult> => {
    const { accepted, refused } = separateValid(records);
    const origin = { agent: cleanOrNull(options.agent), tenant: cleanOrNull(options.tenant) };
    try {
      const written = await insert(db, accepted, origin);
      await makeSearchable(db, accepted, origin.tenant);
      return { written, duplicates: accepted.length - written, refused };
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
    }
    // The database refused a record that the schema accepted. Writing them one by one finds which.
    let written = 0;
    const refusedByDatabase: AppendResult['refused'] = [];
    for (const record of accepted) {
      try {
        written += await insert(db, [record], origin);
        await makeSearchable(db, [record], origin.tenant);
      } catch (error) {
        if (!isRefusedRow(error)) throw error;
        refusedByDatabase.push({ failure_id: record.failure_id, reason: messageOf(error) });
      }
    }
    const duplicates = accepted.length - written - refusedByDatabase.length;
    return { written, duplicates, refused: [...refused, ...refusedByDatabase] };
  },

  get: async (failureId: string): Promise<FailureRecord | null> => {
    const row = await db
      .selectFrom('failure_records')
      .select(RECORD_COLUMNS)
      .where('failure_id', '=', cleanText(failureId))
      .executeTakeFirst();
    return row ? toRecord(row) : null;
  },

  /** The tenant of the run that a failure belongs to; null for none. */
  tenantOf: async (failureId: string): Promise<string | null> => {
    const row = await db
      .selectFrom('failure_records')
      .select('tenant')
      .where('failure_id', '=', cleanText(failureId))
      .executeTakeFirst();
    return row?.tenant ?? null;
  },

  /** All records of one run, oldest first. With a tenant (null for none) only those that it reported. */
  forRun: async (runId: string, tenant?: string | null): Promise<FailureRecord[]> => {
    let query = db.selectFrom('failure_records').select(RECORD_COLUMNS).where('run_id', '=', cleanText(runId));
    if (tenant !== undefined) query = query.where('tenant', 'is not distinct from', cleanOrNull(tenant));
    const rows = await query.orderBy('created_at').orderBy('step_id').orderBy('failure_id').execute();
    return rows.map(toRecord);
  },

  /** Newest first. */
  list: async (filter: FailureRecordFilter): Promise<Page<FailureRecord>> => {
    const size = pageSize(filter.limit);
    let query = db.selectFrom('failure_records').select(RECORD_COLUMNS);
    if (filter.run_id !== undefined) query = query.where('run_id', '=', cleanText(filter.run_id));
    if (filter.agent !== undefined) query = query.where('agent', '=', cleanText(filter.agent));
    if (filter.fingerprint !== undefined) query = query.where('fingerprint', '=', cleanText(filter.fingerprint));
    if (filter.tenant !== undefined) query = query.where('tenant', '=', cleanText(filter.tenant));
    if (filter.since !== undefined) query = query.where('created_at', '>=', new Date(isoMillis(filter.since)));
    if (filter.cursor !== undefined) {
      const { at, id } = decodeTimeCursor(filter.cursor);
      query = query.where(sql<boolean>`(created_at, failure_id) < (${at}::timestamptz, ${cleanText(id)})`);
    }
    const rows = await query
      .orderBy('created_at', 'desc')
      .orderBy('failure_id', 'desc')
      .limit(size + 1)
      .execute();
    return buildPage(rows, size, toRecord, (row) => [row.created_at.toISOString(), row.failure_id]);
  },

  /** Failures of all runs grouped by UTC day, for people. Guidance and escalation do not use this. */
  fingerprintsByDay: async (filter: {
    agent?: string;
    tenant?: string | undefined;
    since: string;
    limit?: number;
  }): Promise<FingerprintDay[]> => {
    const agent = filter.agent === undefined ? sql`` : sql`and agent = ${cleanText(filter.agent)}`;
    const tenant = filter.tenant === undefined ? sql`` : sql`and tenant = ${cleanText(filter.tenant)}`;
    const { rows } = await sql<FingerprintDay>`
      select
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
        fingerprint,
        count(*) as occurrence_count,
        count(distinct run_id) as run_count
      from failure_records
      where created_at >= ${isoMillis(filter.since)}::timestamptz ${agent} ${tenant}
      group by 1, 2
      order by day desc, occurrence_count desc, fingerprint
      limit ${pageSize(filter.limit)}`.execute(db);
    return rows;
  },
});

const RECORD_COLUMNS = [
  'failure_id',
  'run_id',
  'step_id',
  'phase',
  'signal_type',
  'severity',
  'fingerprint',
  'attempted_action',
  'observed_outcome',
  'recommended_adjustment',
  'context_refs',
  'created_at',
] as const satisfies readonly (keyof FailureRecord)[];

type RecordRow = Pick<Selectable<Tables['failure_records']>, (typeof RECORD_COLUMNS)[number]>;

const toRecord = (row: RecordRow): FailureRecord => ({ ...row, created_at: row.created_at.toISOString() });

const separateValid = (records: readonly unknown[]) => {
  const accepted: FailureRecord[] = [];
  const refused: AppendResult['refused'] = [];
  for (const record of records) {
    const parsed = failureRecordSchema.safeParse(record);
    if (parsed.success) {
      // Checked before the text is cleaned: an id with a NUL is invalid, not another id.
      accepted.push(parsed.data);
    } else {
      const { path, reason } = firstIssue(parsed.error);
      refused.push({ failure_id: idOf(record), reason: `${path}: ${reason}` });
    }
  }
  // All writers use the same order, so that two batches with common ids do not wait for each other.
  accepted.sort((left, right) => (left.failure_id < right.failure_id ? -1 : 1));
  return { accepted, refused };
};

const idOf = (record: unknown): string | null =>
  typeof record === 'object' && record !== null && 'failure_id' in record && typeof record.failure_id === 'string'
    ? cleanText(record.failure_id).slice(0, 200)
    : null;

/** The agent and the tenant of the run that records belong to. */
export interface RecordOrigin {
  agent?: string | null;
  tenant?: string | null;
}

const cleanOrNull = (text: string | null | undefined): string | null =>
  text === undefined || text === null ? null : cleanText(text);

/** Fingerprints that this process has made searchable, so that a failure that repeats is not written again. */
const searchable = new WeakMap<Kysely<Tables>, Set<string>>();
const REMEMBERED = 10_000;

/** Makes failures searchable by their message, tool and code: one text per tenant and fingerprint. */
const makeSearchable = async (
  db: Kysely<Tables>,
  records: readonly FailureRecord[],
  tenant: string | null,
): Promise<void> => {
  const known = searchable.get(db) ?? new Set();
  searchable.set(db, known);
  if (known.size > REMEMBERED) known.clear();
  const scope_key = failureScope(tenant);
  const fresh = new Map(
    records
      .filter(({ fingerprint }) => !known.has(`${scope_key}\n${fingerprint}`))
      .map((record) => [record.fingerprint, record]),
  );
  const texts = [...fresh.values()].flatMap(({ fingerprint, attempted_action, observed_outcome }) => {
    const { tool_name } = attempted_action;
    const { error_code = null, message_preview = '' } = observed_outcome;
    const of = { scope_key, fingerprint, tool_name, error_code };
    return [searchableText({ ...of, part: 'failure' }, message_preview), searchableNames(of, tool_name, error_code)];
  });
  await writeRecallTexts(db, texts);
  for (const fingerprint of fresh.keys()) known.add(`${scope_key}\n${fingerprint}`);
};

const insert = async (
  db: Kysely<Tables>,
  records: FailureRecord[],
  { agent, tenant }: { agent: string | null; tenant: string | null },
): Promise<number> => {
  if (records.length === 0) return 0;
  const rows = records.map((record) => ({ ...record, created_at: isoMillis(record.created_at) }));
  // One JSON parameter for any number of rows needs one query plan and avoids the limit of 65,535 parameters.
  const result = await sql`
    insert into failure_records (
      failure_id, run_id, step_id, phase, signal_type, severity, fingerprint, attempted_action, observed_outcome,
      recommended_adjustment, context_refs, created_at, agent, tenant
    )
    select r.*, ${agent}::text, ${tenant}::text
    from jsonb_to_recordset(${jsonParameter(rows)}::jsonb) as r (
      failure_id text, run_id text, step_id bigint, phase text, signal_type text, severity text, fingerprint text,
      attempted_action jsonb, observed_outcome jsonb, recommended_adjustment jsonb, context_refs jsonb,
      created_at timestamptz
    )
    on conflict (failure_id) do nothing`.execute(db);
  return Number(result.numAffectedRows ?? 0);
};
