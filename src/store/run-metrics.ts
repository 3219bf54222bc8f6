import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import type { Amounts, RunOutcome } from '../protocol/run.ts';
import type { LessonMetrics, MetricBucket, MetricsReport, RunFigures, RunMetrics } from '../protocol/run-metrics.ts';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

/** An ended run, as the monitors keep it. */
export interface EndedRun {
  run_id: string;
  agent: string;
  outcome: RunOutcome;
  ended_at: string;
  used: Pick<Amounts, 'steps' | 'attempts'>;
  figures: RunFigures;
}

export interface MetricsFilter {
  agent?: string | undefined;
  /** ISO time, inclusive. */
  since: string;
  bucket?: MetricBucket | undefined;
}

/** A series has at most this many buckets, so that an old `since` cannot ask for millions of hours. */
const SERIES_BUCKETS = 400;
const SERIES_ROWS = 5_000;
const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;

export const createRunMetrics = (db: Kysely<Tables>) => ({
  /**
   * Writes the figures of an ended run. The first write is kept. Stalls and repeated failures are counted from the stored failure
   * records, which a run writes before its archive, because a run's own memory forgets the oldest ones.
   */
  put: async ({ run_id, agent, outcome, ended_at, used, figures }: EndedRun): Promise<void> => {
    const { waste } = figures;
    const whole = (amount: number): number => Math.round(amount);
    await sql`
      insert into run_figures (
        run_id, agent, outcome, ended_at, steps, attempts, cost_micro_usd, work_ms, escalations, held_calls, retrievals,
        with_evidence, waste_attempts, waste_ms, waste_cost_micro_usd, stalls, repeated_failures
      )
      select
        ${cleanText(run_id)}, ${cleanText(agent)}, ${outcome}, ${isoMillis(ended_at)}::timestamptz, ${used.steps}::int,
        ${used.attempts}::int, ${whole(figures.cost_micro_usd)}::bigint, ${whole(figures.work_ms)}::bigint,
        ${figures.escalations}::int, ${figures.held_calls}::int, ${figures.retrievals}::int, ${figures.with_evidence}::int,
        ${waste.attempts}::int, ${whole(waste.ms)}::bigint, ${whole(waste.cost_micro_usd)}::bigint,
        count(*) filter (where signal_type = 'loop_stall'),
        -- Pressure and corrections are no failures of the work.
        count(*) filter (where signal_type not in ('budget_pressure', 'human_correction'))
          - count(distinct fingerprint) filter (where signal_type not in ('budget_pressure', 'human_correction'))
      from failure_records where run_id = ${cleanText(run_id)}
      on conflict (run_id) do nothing`.execute(db);
  },

  /** Everything that the monitors show about runs, per agent, as a whole and over time. */
  read: async ({ agent, since, bucket = 'day' }: MetricsFilter): Promise<MetricsReport> => {
    const from = isoMillis(since);
    const seriesFrom = isoMillis(new Date(Math.max(Date.parse(from), Date.now() - SERIES_BUCKETS * BUCKET_MS[bucket])));
    const about = (time: RawBuilder<unknown>, start: string) => sql`
      ${time} >= ${start}::timestamptz ${agent === undefined ? sql`` : sql`and agent = ${cleanText(agent)}`}`;
    const [overall, series, lessons] = await Promise.all([
      readRows(db, (time) => about(time, from), null),
      readRows(db, (time) => about(time, seriesFrom), bucket),
      readLessons(db, about(sql`f.ended_at`, from)),
    ]);
    return { bucket, overall: overall.map(({ from: _whole, ...row }) => row), series, lessons };
  },
});

interface RunTotals {
  agent: string | null;
  from: string;
  runs: number;
  completed: number;
  finalized: number;
  system_error: number;
  budget_exhausted: number;
  cancelled: number;
  with_stalls: number;
  repeated_failures: number;
  retrievals: number;
  with_evidence: number;
  steps: number;
  attempts: number;
  work_ms: number;
  cost_micro_usd: number;
  escalations: number;
  held_calls: number;
  waste_attempts: number;
  waste_ms: number;
  waste_cost_micro_usd: number;
}
interface GuardTotals {
  agent: string | null;
  from: string;
  decisions: number;
  judged: number;
  wrong: number;
}

/** Reads one row per agent, or with a bucket one row per agent and bucket, the latest bucket first. */
async function readRows(
  db: Kysely<Tables>,
  matching: (time: RawBuilder<unknown>) => RawBuilder<unknown>,
  bucket: MetricBucket | null,
): Promise<(RunMetrics & { from: string })[]> {
  const start = (time: RawBuilder<unknown>) =>
    bucket === null
      ? sql`''`
      : sql`to_char(date_trunc(${sql.lit(bucket)}, ${time} at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  const [{ rows: runs }, { rows: guards }] = await Promise.all([
    sql<RunTotals>`
      select
        agent, ${start(sql`ended_at`)} as "from", count(*)::int as runs,
        count(*) filter (where outcome = 'completed')::int as completed,
        count(*) filter (where outcome = 'finalized')::int as finalized,
        count(*) filter (where outcome = 'system_error')::int as system_error,
        count(*) filter (where outcome = 'budget_exhausted')::int as budget_exhausted,
        count(*) filter (where outcome = 'cancelled')::int as cancelled,
        count(*) filter (where stalls > 0)::int as with_stalls,
        sum(repeated_failures)::float8 as repeated_failures,
        sum(retrievals)::float8 as retrievals, sum(with_evidence)::float8 as with_evidence,
        sum(steps)::float8 as steps, sum(attempts)::float8 as attempts,
        sum(work_ms)::float8 as work_ms, sum(cost_micro_usd)::float8 as cost_micro_usd,
        sum(escalations)::float8 as escalations, sum(held_calls)::float8 as held_calls,
        sum(waste_attempts)::float8 as waste_attempts, sum(waste_ms)::float8 as waste_ms,
        sum(waste_cost_micro_usd)::float8 as waste_cost_micro_usd
      from run_figures where ${matching(sql`ended_at`)}
      group by 1, 2 order by 2 desc, 1 limit ${SERIES_ROWS}`.execute(db),
    sql<GuardTotals>`
      select
        agent, ${start(sql`decided_at`)} as "from", count(*)::int as decisions,
        count(verdict.wrong)::int as judged, count(*) filter (where verdict.wrong)::int as wrong
      from guard_decisions as decision
      left join lateral (
        select wrong from decision_verdicts as v
        where v.run_id = decision.run_id and v.decision_id = decision.decision_id order by v.id desc limit 1
      ) as verdict on true
      where ${matching(sql`decided_at`)}
      group by 1, 2 order by 2 desc, 1 nulls last limit ${SERIES_ROWS}`.execute(db),
  ]);
  const keyOf = (row: { agent: string | null; from: string }): string => JSON.stringify([row.from, row.agent]);
  const guardOf = new Map(guards.map((row) => [keyOf(row), row]));
  const found = new Set(runs.map(keyOf));
  const withoutRuns = guards
    .filter((row) => !found.has(keyOf(row)))
    .map(({ agent, from }) => ({ ...NO_RUNS, agent, from }));
  return [...runs, ...withoutRuns]
    .toSorted((one, other) => compare(other.from, one.from) || compare(one.agent ?? '\uffff', other.agent ?? '\uffff'))
    .map((row) => ({ from: row.from, ...toMetrics(row, guardOf.get(keyOf(row))) }));
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** For agents that had decisions in a period in which none of their runs ended. */
const NO_RUNS: Omit<RunTotals, 'agent' | 'from'> = {
  runs: 0,
  completed: 0,
  finalized: 0,
  system_error: 0,
  budget_exhausted: 0,
  cancelled: 0,
  with_stalls: 0,
  repeated_failures: 0,
  retrievals: 0,
  with_evidence: 0,
  steps: 0,
  attempts: 0,
  work_ms: 0,
  cost_micro_usd: 0,
  escalations: 0,
  held_calls: 0,
  waste_attempts: 0,
  waste_ms: 0,
  waste_cost_micro_usd: 0,
};

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

function toMetrics(row: RunTotals, guard: GuardTotals | undefined): RunMetrics {
  const { runs, completed, finalized, system_error, budget_exhausted, cancelled } = row;
  const { decisions = 0, judged = 0, wrong = 0 } = guard ?? {};
  return {
    agent: row.agent,
    runs,
    outcomes: { completed, finalized, system_error, budget_exhausted, cancelled },
    loop_rate: share(row.with_stalls, runs),
    repeated_failures: row.repeated_failures,
    repeated_failures_per_run: share(row.repeated_failures, runs),
    retrievals: row.retrievals,
    evidence_coverage: share(row.with_evidence, row.retrievals),
    steps: row.steps,
    attempts: row.attempts,
    seconds_per_step: share(row.work_ms / 1_000, row.steps),
    cost_per_step_micro_usd: share(row.cost_micro_usd, row.steps),
    escalations: { ask_human: row.escalations, system_error },
    escalations_per_run: share(row.escalations + system_error, runs),
    held_calls: row.held_calls,
    waste: {
      attempts: row.waste_attempts,
      seconds: row.waste_ms / 1_000,
      cost_micro_usd: row.waste_cost_micro_usd,
      share_of_attempts: share(row.waste_attempts, row.attempts),
    },
    guard: { decisions, judged, wrong, false_alarm_rate: share(wrong, decisions) },
  };
}

/**
 * Compares runs that saw a lesson with runs that it was withheld from. A withheld run stands for `share / (1 - share)` runs that saw the
 * lesson, because the share differs between lessons on trial and proven ones.
 */
async function readLessons(db: Kysely<Tables>, matching: RawBuilder<unknown>): Promise<LessonMetrics[]> {
  const { rows } = await sql<LessonMetrics>`
    select
      f.agent,
      count(*) filter (where t.shown)::int as shown,
      count(*) filter (where t.shown and t.same_again)::int as shown_same_again,
      count(*) filter (where not t.shown)::int as withheld,
      count(*) filter (where not t.shown and t.same_again)::int as withheld_same_again,
      case when count(*) filter (where not t.shown) = 0 then null else
        coalesce(sum(t.share_shown / (1 - t.share_shown)) filter (where not t.shown and t.same_again), 0)
          - count(*) filter (where t.shown and t.same_again)
      end as repeats_avoided
    from reflection_trials as t join run_figures as f on f.run_id = t.run_id
    where ${matching}
    group by 1 order by 1`.execute(db);
  return rows;
}
