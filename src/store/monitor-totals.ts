import { sql } from 'kysely';
import type { EnhancementArm } from '../protocol/lessons.ts';
import type { Kysely } from 'kysely';
import type { RemainingFailure } from '../core/retry/monitors.ts';
import { cleanText } from './clean-text.ts';
import { pageSize } from './cursor.ts';
import { toEvaluation } from './evaluation-rows.ts';
import type { StepEvaluation } from '../protocol/lessons.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

export interface MonitorFilter {
  agent?: string | undefined;
  model?: string | undefined;
  /** ISO time, inclusive. */
  since: string;
}

/** Totals instead of rates, because rates cannot be added up. */
export interface MonitorTotals {
  evaluations: number;
  first_ok: number;
  tried_retry_1: number;
  ok_at_retry_1: number;
  tried_retry_2: number;
  ok_at_retry_2: number;
  final_ok: number;
  recovered: number;
  /** Duration of the first attempts. */
  base_ms: number;
  /** Duration of all further attempts and the waits before them. */
  added_ms: number;
  /** Duration of other work of the same steps, if known. */
  other_ms: number;
  base_cost_micro_usd: number;
  added_cost_micro_usd: number;
  other_cost_micro_usd: number;
}

export interface MonitorGroup {
  agent: string;
  model: string | null;
}
export type RetryTotals = MonitorGroup & { day: string } & MonitorTotals;

const COUNTS = sql`
  count(*) as evaluations,
  count(*) filter (where first_ok) as first_ok,
  count(*) filter (where attempts > 1) as tried_retry_1,
  count(*) filter (where ok_at = 1) as ok_at_retry_1,
  count(*) filter (where attempts > 2) as tried_retry_2,
  count(*) filter (where ok_at = 2) as ok_at_retry_2,
  count(*) filter (where final_ok) as final_ok,
  count(*) filter (where final_ok and not first_ok) as recovered,
  sum(base_ms)::bigint as base_ms,
  sum(added_ms)::bigint as added_ms,
  sum(other_ms)::bigint as other_ms,
  sum(base_cost_micro_usd)::bigint as base_cost_micro_usd,
  sum(added_cost_micro_usd)::bigint as added_cost_micro_usd,
  sum(other_cost_micro_usd)::bigint as other_cost_micro_usd`;

const matching = ({ agent, model, since }: MonitorFilter) => sql`
  created_at >= ${isoMillis(since)}::timestamptz
  ${agent === undefined ? sql`` : sql`and agent = ${cleanText(agent)}`}
  ${model === undefined ? sql`` : sql`and model = ${cleanText(model)}`}`;

export const createMonitorTotals = (db: Kysely<Tables>) => ({
  /** Totals per agent, model and UTC day, the newest day first. */
  totals: async (filter: MonitorFilter): Promise<RetryTotals[]> => {
    const { rows } = await sql<RetryTotals>`
      select agent, model, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, ${COUNTS}
      from retry_monitors where ${matching(filter)}
      group by 1, 2, 3
      order by day desc, agent, model nulls first`.execute(db);
    return rows;
  },

  /** Totals per agent and model, over the whole period. */
  overall: async (filter: MonitorFilter): Promise<(MonitorGroup & MonitorTotals)[]> => {
    const { rows } = await sql<MonitorGroup & MonitorTotals>`
      select agent, model, ${COUNTS}
      from retry_monitors where ${matching(filter)}
      group by 1, 2
      order by agent, model nulls first`.execute(db);
    return rows;
  },

  /** Steps that no retry could fix, newest first, with their prompts and whether another model succeeded. */
  remainingFailures: async (filter: MonitorFilter & { limit?: number }): Promise<RemainingFailure[]> => {
    const { rows } = await sql<RemainingRow>`
      select
        run_id, step_id, agent, model, subject, category, attempts, attempt_list, other_ms, other_cost_micro_usd, arm,
        (
          select bool_or(not other.final_ok) from retry_monitors as other
          where md5(other.subject) = md5(failed.subject) and other.subject = failed.subject
            and other.model is distinct from failed.model
        ) as persistent_across_models
      from retry_monitors as failed
      where not final_ok and ${matching(filter)}
      order by id desc
      limit ${pageSize(filter.limit)}`.execute(db);
    return rows.map((row) => {
      const { evaluation_id, agent, model, subject, attempts } = toEvaluation(row);
      return {
        evaluation_id,
        agent,
        model,
        subject,
        category: attempts.at(-1)?.category ?? null,
        attempts: row.attempts,
        prompt_diffs: attempts.flatMap(({ prompt_diff }) => (prompt_diff === null ? [] : [prompt_diff])),
        persistent_across_models: row.persistent_across_models,
      };
    });
  },
});

interface RemainingRow extends MonitorGroup {
  run_id: string;
  step_id: number;
  subject: string | null;
  attempts: number;
  attempt_list: StepEvaluation['attempts'];
  other_ms: number;
  other_cost_micro_usd: number;
  persistent_across_models: boolean | null;
  arm: EnhancementArm | null;
}
