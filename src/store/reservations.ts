import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { FamilyTakenError, IdempotencyConflictError, RunExistsError } from '../protocol/errors.ts';
import { defaultLoopId } from '../protocol/ids.ts';
import { StoreUnreachableError } from './store-errors.ts';
import type { Tables } from './tables.ts';

/** An idempotency key, with the request it was used for. */
export interface StartKey {
  hash: string;
  request_hash: string;
  /** The run id that the key gives to a request without one. */
  run_id: string;
}

/** The names that a start reserves. */
export interface StartNames {
  /** null for a guard, whose loops run elsewhere. */
  run_id: string | null;
  loop_id: string;
  key?: StartKey | undefined;
}

export interface StartReservation {
  /**
   * Releases what this call reserved, after a start that was refused. Earlier reservations stay. With `keepName` only
   * the key is released, because another start of the same run has succeeded and its loops have this name.
   */
  release(options: { keepName: boolean }): Promise<void>;
}

/** Returns whether Temporal knows a run with this id. */
export type IsKnownRun = (runId: string) => Promise<boolean>;

export interface Reservations {
  /**
   * Reserves run id, family and key together, permanently. A repeated start finds its own reservation. Throws
   * `IdempotencyConflictError`, `RunExistsError` or `FamilyTakenError` if another start has one of the three.
   */
  reserve(wanted: StartNames, isKnownRun: IsKnownRun): Promise<StartReservation>;
  /** The owner of a family: a run, a guard (`run_id: null`), or null if it is free. */
  ownerOf(family: string): Promise<{ run_id: string | null } | null>;
}

interface Row {
  family: string;
  run_id: string | null;
  start_key: string | null;
  request_hash: string | null;
}
interface HeldRow extends Row {
  /** Measured with the database's clock. */
  age_ms: number;
  is_archived: boolean;
}

/** A start that takes longer than this has failed. */
const ABANDONED_MS = 60_000;
/** Each try fails only if another start comes or goes between two statements of this one. */
const MAX_TRIES = 5;

const NOTHING_RESERVED: StartReservation = { release: () => Promise.resolve() };

export const createReservations = (db: Kysely<Tables>): Reservations => ({
  reserve: async (wanted, isKnownRun) => {
    const row = rowOf(wanted);
    try {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if (await insert(db, row)) return { release: ({ keepName }) => release(db, row, keepName) };
        const held = await findHeldRows(db, row);
        const rivals = held.filter((other) => !covers(other, row));
        const [own] = held;
        if (own !== undefined && rivals.length === 0 && (await renew(db, own))) return NOTHING_RESERVED;
        for (const rival of rivals) {
          if (!(await isAbandoned(rival, isKnownRun))) throw buildConflict(row, rival);
          await removeAbandoned(db, rival);
        }
      }
      throw new FamilyTakenError(row.family, 'another start');
    } catch (error) {
      if (error instanceof StoreUnreachableError && isUniqueInTemporal(wanted)) return NOTHING_RESERVED;
      throw error;
    }
  },

  ownerOf: async (family) =>
    (await db.selectFrom('reservations').select('run_id').where('family', '=', family).executeTakeFirst()) ?? null,
});

const rowOf = ({ run_id, loop_id, key }: StartNames): Row => ({
  family: familyOf(loop_id),
  run_id,
  start_key: key?.hash ?? null,
  request_hash: key?.request_hash ?? null,
});

/**
 * True if Temporal alone can keep these names unique: a default family contains the run's id, and an id derived from a
 * key belongs to that key only. Such a run can start even if the store is unavailable.
 */
const isUniqueInTemporal = ({ run_id, loop_id, key }: StartNames): boolean =>
  run_id !== null && loop_id === defaultLoopId(run_id) && (key === undefined || key.run_id === run_id);

async function insert(db: Kysely<Tables>, row: Row): Promise<boolean> {
  const result = await db
    .insertInto('reservations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** The rows that hold the family, the run id or the key, with the row of the key first. */
async function findHeldRows(db: Kysely<Tables>, row: Row): Promise<HeldRow[]> {
  const { rows } = await sql<HeldRow>`
    select family, run_id, start_key, request_hash,
      (extract(epoch from clock_timestamp() - reserved_at) * 1000)::bigint as age_ms,
      exists (select from archived_runs where archived_runs.run_id = reservations.run_id) as is_archived
    from reservations
    where family = ${row.family} or run_id = ${row.run_id}::text or start_key = ${row.start_key}::text
    order by start_key is not distinct from ${row.start_key}::text desc`.execute(db);
  return rows;
}

/** True if this row already reserves everything that a start wants. A start without a key wants none. */
const covers = (held: Row, { family, run_id, start_key, request_hash }: Row): boolean =>
  held.family === family &&
  held.run_id === run_id &&
  (start_key === null || (held.start_key === start_key && held.request_hash === request_hash));

/** True if its run was never started, for example because Temporal was unavailable. */
const isAbandoned = async ({ run_id, age_ms, is_archived }: HeldRow, isKnownRun: IsKnownRun): Promise<boolean> =>
  run_id !== null && age_ms > ABANDONED_MS && !is_archived && !(await isKnownRun(run_id));

function buildConflict(row: Row, rival: HeldRow): Error {
  if (row.start_key !== null && rival.start_key === row.start_key) return new IdempotencyConflictError();
  if (row.run_id !== null && rival.run_id === row.run_id) return new RunExistsError(row.run_id);
  return new FamilyTakenError(row.family, rival.run_id === null ? 'a guard' : `the run ${rival.run_id}`);
}

/** Marks a repeated start as in progress again. Returns false if its row was removed meanwhile. */
async function renew(db: Kysely<Tables>, row: Row): Promise<boolean> {
  const result = await db
    .updateTable('reservations')
    .set({ reserved_at: sql<Date>`now()` })
    .where(isRow(row))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Removes the row unless the start was repeated since the row was read. */
const removeAbandoned = async (db: Kysely<Tables>, row: Row): Promise<void> => {
  const isOld = sql<boolean>`reserved_at < now() - ${ABANDONED_MS} * interval '1 millisecond'`;
  await db.deleteFrom('reservations').where(isRow(row)).where(isOld).execute();
};

async function release(db: Kysely<Tables>, row: Row, keepName: boolean): Promise<void> {
  if (!keepName) await db.deleteFrom('reservations').where(isRow(row)).execute();
  else await db.updateTable('reservations').set({ start_key: null, request_hash: null }).where(isRow(row)).execute();
}

const isRow = ({ family, run_id, start_key }: Row) => sql<boolean>`
  family = ${family} and run_id is not distinct from ${run_id}::text and start_key is not distinct from ${start_key}::text`;
