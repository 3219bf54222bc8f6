import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

/** One step, evaluated once, when it has ended for good. */
export interface RetryEvaluation {
  run_id: string;
  step_id: number;
  agent: string;
  model: string | null;
  attempts: number;
  first_ok: boolean;
  final_ok: boolean;
  /** Of the failure that remained, or of the last one that was mended. */
  category: string | null;
  /** Of the first attempt; what `added_ms` is compared with. */
  base_ms: number;
  /** Of all further attempts and the waits between them. */
  added_ms: number;
  base_cost_micro_usd: number;
  added_cost_micro_usd: number;
  created_at: string;
}

export interface RetryTotals {
  agent: string;
  model: string | null;
  day: string;
  evaluations: number;
  first_ok: number;
  ok_after_retry_1: number;
  ok_after_retry_2: number;
  final_ok: number;
  recovered: number;
  base_ms: number;
  added_ms: number;
  base_cost_micro_usd: number;
  added_cost_micro_usd: number;
}

export const createRetryMonitors = (db: Kysely<Tables>) => ({
  /** A step counts once; the first evaluation stands. */
  append: async (evaluations: readonly RetryEvaluation[]): Promise<{ written: number }> => {
    if (evaluations.length === 0) return { written: 0 };
    const rows = evaluations
      .map((one) => ({
        ...one,
        run_id: cleanText(one.run_id),
        agent: cleanText(one.agent),
        model: one.model === null ? null : cleanText(one.model),
        category: one.category === null ? null : cleanText(one.category),
        created_at: isoMillis(one.created_at),
      }))
      .sort((left, right) =>
        left.run_id === right.run_id ? left.step_id - right.step_id : left.run_id < right.run_id ? -1 : 1,
      );
    const result = await db
      .insertInto('retry_monitors')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['run_id', 'step_id']).doNothing())
      .executeTakeFirst();
    return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
  },

  /** The last evaluations of an agent, newest first: what the rollback rules judge. */
  recent: async (filter: { agent: string; model?: string | null; limit?: number }): Promise<RetryEvaluation[]> => {
    let query = db.selectFrom('retry_monitors').selectAll().where('agent', '=', cleanText(filter.agent));
    if (filter.model === null) query = query.where('model', 'is', null);
    else if (filter.model !== undefined) query = query.where('model', '=', cleanText(filter.model));
    const rows = await query.orderBy('id', 'desc').limit(pageSize(filter.limit)).execute();
    return rows.map(({ id: _id, created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }));
  },

  /** Per agent, model and UTC day. Counts, not rates: rates of rates would be wrong when somebody adds them up. */
  totals: async (filter: { agent?: string; model?: string; since: string }): Promise<RetryTotals[]> => {
    const agent = filter.agent === undefined ? sql`` : sql`and agent = ${cleanText(filter.agent)}`;
    const model = filter.model === undefined ? sql`` : sql`and model = ${cleanText(filter.model)}`;
    const { rows } = await sql<RetryTotals>`
      select
        agent,
        model,
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
        count(*) as evaluations,
        count(*) filter (where first_ok) as first_ok,
        count(*) filter (where final_ok and attempts <= 2) as ok_after_retry_1,
        count(*) filter (where final_ok and attempts <= 3) as ok_after_retry_2,
        count(*) filter (where final_ok) as final_ok,
        count(*) filter (where final_ok and not first_ok) as recovered,
        sum(base_ms)::bigint as base_ms,
        sum(added_ms)::bigint as added_ms,
        sum(base_cost_micro_usd)::bigint as base_cost_micro_usd,
        sum(added_cost_micro_usd)::bigint as added_cost_micro_usd
      from retry_monitors
      where created_at >= ${isoMillis(filter.since)}::timestamptz ${agent} ${model}
      group by 1, 2, 3
      order by day desc, agent, model nulls first`.execute(db);
    return rows;
  },
});
