import type { Kysely } from 'kysely';
import type { Evaluation } from '../core/retry/monitors.ts';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import { evaluationsOf, applyRollbackRule } from './enhancement-switches.ts';
import { toEvaluationRow } from './evaluation-rows.ts';
import type { NewEvaluation } from './evaluation-rows.ts';
import { createMonitorTotals } from './monitor-totals.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

/** The evaluation of one step, written once when the step has ended. */
export interface RetryEvaluation {
  run_id: string;
  step_id: number;
  agent: string;
  model: string | null;
  subject: string | null;
  attempts: number;
  first_ok: boolean;
  final_ok: boolean;
  /** Category of the failure that remained, or of the last one that a retry fixed. */
  category: string | null;
  /** Duration of the first attempt. `added_ms` is compared with it. */
  base_ms: number;
  /** Duration of all further attempts and the waits between them. */
  added_ms: number;
  base_cost_micro_usd: number;
  added_cost_micro_usd: number;
  created_at: string;
}

export const createRetryMonitors = (db: Kysely<Tables>) => ({
  ...createMonitorTotals(db),

  /**
   * Writes evaluations. A step counts once; the first evaluation is kept. The rollback rule is applied in the same
   * transaction, so that a switch never lags behind the evaluations.
   */
  append: async (evaluations: readonly NewEvaluation[]): Promise<{ written: number }> => {
    if (evaluations.length === 0) return { written: 0 };
    const rows = evaluations
      .map(toEvaluationRow)
      .sort((left, right) =>
        left.run_id === right.run_id ? left.step_id - right.step_id : left.run_id < right.run_id ? -1 : 1,
      );
    return db.transaction().execute(async (trx) => {
      const result = await trx
        .insertInto('retry_monitors')
        .values(rows)
        .onConflict((conflict) => conflict.columns(['run_id', 'step_id']).doNothing())
        .executeTakeFirst();
      // All writers use the same order, so that they do not wait for each other.
      for (const agent of [...new Set(rows.map((row) => row.agent))].sort()) await applyRollbackRule(trx, agent);
      return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
    });
  },

  /** The latest evaluations of an agent since a time, oldest first, in core's form. */
  evaluationsOf: (agent: string, since: string | null, limit = 500): Promise<Evaluation[]> =>
    evaluationsOf(db, cleanText(agent), since === null ? null : isoMillis(since), limit),

  /** The latest evaluations of an agent, newest first. */
  recent: async (filter: { agent: string; model?: string | null; limit?: number }): Promise<RetryEvaluation[]> => {
    let query = db.selectFrom('retry_monitors').select(RECENT_COLUMNS).where('agent', '=', cleanText(filter.agent));
    if (filter.model === null) query = query.where('model', 'is', null);
    else if (filter.model !== undefined) query = query.where('model', '=', cleanText(filter.model));
    const rows = await query.orderBy('id', 'desc').limit(pageSize(filter.limit)).execute();
    return rows.map(({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }));
  },
});

const RECENT_COLUMNS = [
  'run_id',
  'step_id',
  'agent',
  'model',
  'subject',
  'attempts',
  'first_ok',
  'final_ok',
  'category',
  'base_ms',
  'added_ms',
  'base_cost_micro_usd',
  'added_cost_micro_usd',
  'created_at',
] as const satisfies readonly (keyof RetryEvaluation)[];
