import type { EnhancementSwitch } from '../core/retry/switch-off.ts';
import type { MonitorFigures, RemainingFailure } from '../core/retry/monitors.ts';
import type { MetricBucket, MetricsReport } from '../protocol/run-metrics.ts';
import type { MetricsFilter } from './run-metrics.ts';
import type { MonitorFilter, MonitorGroup, MonitorTotals, RetryTotals } from './monitor-totals.ts';

type Rates = Omit<MonitorFigures, 'remaining_failures'>;

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Computes from totals what core's `monitorFigures` computes from evaluations. */
export const computeRates = (totals: MonitorTotals): Rates => {
  const failedFirst = totals.evaluations - totals.first_ok;
  const retry = (tried: number, succeeded: number) => ({
    tried,
    succeeded,
    success: share(succeeded, tried),
    recovery: share(succeeded, failedFirst),
  });
  return {
    evaluations: totals.evaluations,
    first_attempt_success: share(totals.first_ok, totals.evaluations),
    retry_1: retry(totals.tried_retry_1, totals.ok_at_retry_1),
    retry_2: retry(totals.tried_retry_2, totals.ok_at_retry_2),
    final_success: share(totals.final_ok, totals.evaluations),
    recovered: totals.recovered,
    recovery: share(totals.recovered, failedFirst),
    added_seconds: totals.added_ms / 1_000,
    added_cost_micro_usd: totals.added_cost_micro_usd,
    cost_per_extra_success_micro_usd: share(totals.added_cost_micro_usd, totals.recovered),
    runtime_overhead: share(totals.added_ms, totals.base_ms + totals.other_ms),
    cost_overhead: share(totals.added_cost_micro_usd, totals.base_cost_micro_usd + totals.other_cost_micro_usd),
    runtime_overhead_of_attempts: share(totals.added_ms, totals.base_ms),
    cost_overhead_of_attempts: share(totals.added_cost_micro_usd, totals.base_cost_micro_usd),
  };
};

export interface Monitors {
  /** Per agent and model, over the whole period. */
  overall: (MonitorGroup & Rates)[];
  by_day: (MonitorGroup & { day: string } & Rates)[];
  remaining_failures: RemainingFailure[];
  /** Agents whose switch was ever changed. The switch of every other agent is on. */
  switches: ({ agent: string } & EnhancementSwitch)[];
  metrics: MetricsReport;
}

export interface MonitorStore {
  retryMonitors: {
    totals(filter: MonitorFilter): Promise<RetryTotals[]>;
    overall(filter: MonitorFilter): Promise<(MonitorGroup & MonitorTotals)[]>;
    remainingFailures(filter: MonitorFilter & { limit?: number }): Promise<RemainingFailure[]>;
  };
  enhancement: {
    all(filter: { agent?: string | undefined }): Promise<({ agent: string } & EnhancementSwitch)[]>;
  };
  runMetrics: { read(filter: MetricsFilter): Promise<MetricsReport> };
}

/** Reads everything that the monitors show, for JSON and for Prometheus. */
export const readMonitors = async (
  { retryMonitors, enhancement, runMetrics }: MonitorStore,
  { bucket, ...filter }: MonitorFilter & { limit?: number; bucket?: MetricBucket | undefined },
): Promise<Monitors> => {
  const [overall, days, remaining_failures, switches, metrics] = await Promise.all([
    retryMonitors.overall(filter),
    retryMonitors.totals(filter),
    retryMonitors.remainingFailures(filter),
    enhancement.all({ agent: filter.agent }),
    runMetrics.read({ agent: filter.agent, since: filter.since, bucket }),
  ]);
  return {
    overall: overall.map((totals) => ({ agent: totals.agent, model: totals.model, ...computeRates(totals) })),
    by_day: days.map((totals) => ({
      agent: totals.agent,
      model: totals.model,
      day: totals.day,
      ...computeRates(totals),
    })),
    remaining_failures,
    switches,
    metrics,
  };
};
