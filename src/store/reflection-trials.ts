import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import { judgeTrial, type TrialFigures } from '../core/lessons/trial.ts';
import type { LessonUse } from '../protocol/lessons.ts';
import { cleanText } from './clean-text.ts';
import type { LessonStatus, Tables } from './tables.ts';

/** Observations of a phase that are judged. Beyond this the oldest no longer matter. */
const OBSERVATIONS = 5_000;

export interface TrialReport extends TrialFigures {
  status: LessonStatus;
  phase: string;
  /** The mean number of attempts and the share of steps in which the failure happened again, on both sides. */
  attempts: { shown: number | null; withheld: number | null };
  same_again: { shown: number | null; withheld: number | null };
}

export interface StoredVerdict {
  status: 'proven' | 'quarantined';
  shown: number;
  withheld: number;
  effect: number;
  low: number;
  high: number;
  created_at: string;
}

/** A run for which a lesson was chosen. */
export interface LessonRun {
  run_id: string;
  /** False if the lesson was withheld from the run, so that its effect can be measured. */
  shown: boolean;
  /** Whether the step that the lesson is about succeeded: for a trial, at its first attempt. */
  ok: boolean;
  at: string;
}

export const createReflectionTrials = (db: Kysely<Tables>) => ({
  /** The figures of the current phase of a lesson's trial. */
  trialOf: async (reflectionId: number): Promise<TrialReport | null> => {
    const current = await currentPhase(db, reflectionId);
    if (current === undefined) return null;
    const rows = await observationsOf(db, reflectionId, current.phase);
    return {
      ...current,
      ...judgeTrial(rows),
      attempts: bySide(rows, ({ attempts }) => attempts),
      same_again: bySide(rows, ({ same_again }) => (same_again ? 1 : 0)),
    };
  },

  /** The latest runs that saw a lesson or from which it was withheld, latest first. */
  runsOf: async (reflectionId: number, limit = 50): Promise<LessonRun[]> => {
    const { rows } = await sql<Omit<LessonRun, 'at'> & { at: Date }>`
      select run_id, bool_or(shown) as shown, bool_or(ok) as ok, max(created_at) as at
      from (
        select run_id, true as shown, succeeded as ok, created_at from reflection_uses where reflection_id = ${reflectionId}
        union all
        select run_id, shown, first_ok, created_at from reflection_trials where reflection_id = ${reflectionId}
      ) as observed
      group by run_id
      order by max(created_at) desc, run_id
      limit ${limit}`.execute(db);
    return rows.map(({ at, ...run }) => ({ ...run, at: at.toISOString() }));
  },

  /** Every verdict about a lesson, oldest first. */
  verdictsOf: async (reflectionId: number): Promise<StoredVerdict[]> => {
    const rows = await db
      .selectFrom('reflection_verdicts')
      .select(['status', 'shown', 'withheld', 'effect', 'low', 'high', 'created_at'])
      .where('reflection_id', '=', reflectionId)
      .orderBy('id')
      .execute();
    return rows.map(({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }));
  },
});

/** Writes the observations of runs, and the verdicts that follow from them. A repeated write changes nothing. */
export async function recordTrials(db: Kysely<Tables>, uses: readonly Omit<LessonUse, 'succeeded'>[]): Promise<void> {
  const rows = uses.flatMap(({ trial, reflection_id, run_id }) =>
    trial === undefined ? [] : [{ ...trial, reflection_id, run_id: cleanText(run_id), phase: cleanText(trial.phase) }],
  );
  if (rows.length === 0) return;
  // All writers use the same order, so that they do not wait for each other.
  for (const id of [...new Set(rows.map((row) => row.reflection_id))].sort((one, other) => one - other)) {
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`trial\n${id}`}, 11))`.execute(trx);
      // A lesson of another database is left out; there is nothing to judge.
      const current = await currentPhase(trx, id);
      if (current === undefined) return;
      await trx
        .insertInto('reflection_trials')
        .values(rows.filter((row) => row.reflection_id === id))
        .onConflict((conflict) => conflict.columns(['reflection_id', 'run_id']).doNothing())
        .execute();
      await judge(trx, id, current);
    });
  }
}

async function judge(
  trx: Transaction<Tables>,
  id: number,
  { status, phase }: { status: LessonStatus; phase: string },
): Promise<void> {
  if (status === 'quarantined') return;
  const { verdict, shown, withheld, effect, low, high } = judgeTrial(await observationsOf(trx, id, phase));
  const next = verdict === 'harms' ? 'quarantined' : verdict === 'helps' ? 'proven' : null;
  if (next === null || next === status || effect === null) return;
  await trx
    .insertInto('reflection_verdicts')
    .values({ reflection_id: id, phase, status: next, shown: shown.n, withheld: withheld.n, effect, low, high })
    .execute();
}

const currentPhase = (db: Kysely<Tables>, id: number) =>
  db.selectFrom('reflection_current').select(['status', 'phase']).where('id', '=', id).executeTakeFirst();

async function observationsOf(db: Kysely<Tables>, id: number, phase: string) {
  const rows = await db
    .selectFrom('reflection_trials')
    .select(['shown', 'share_shown', 'first_ok', 'attempts', 'same_again'])
    .where('reflection_id', '=', id)
    .where('phase', '=', phase)
    .orderBy('id', 'desc')
    .limit(OBSERVATIONS)
    .execute();
  return rows.reverse();
}

function bySide<Row extends { shown: boolean }>(rows: readonly Row[], value: (row: Row) => number) {
  const mean = (side: readonly Row[]): number | null =>
    side.length === 0 ? null : side.reduce((sum, row) => sum + value(row), 0) / side.length;
  return { shown: mean(rows.filter(({ shown }) => shown)), withheld: mean(rows.filter(({ shown }) => !shown)) };
}
