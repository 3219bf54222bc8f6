import type { MonitorFigures, RemainingFailure } from '../core/retry/monitors.ts';
import type { DecisionVerdict, ListedDecision } from '../protocol/guard-decisions.ts';
import type { MetricBucket, MetricsReport } from '../protocol/run-metrics.ts';
import type { CallOptions } from './secondwind-client.ts';

export type { DecisionVerdict, ListedDecision, MetricBucket, MetricsReport };
export type { LessonMetrics, RunMetrics } from '../protocol/run-metrics.ts';

/** How well retries work for an agent and a model. A rate without anything to measure is null. */
export type RetryRates = { agent: string; model: string | null } & Omit<MonitorFigures, 'remaining_failures'>;

/** Whether the retries of an agent enhance prompts, and why not. */
export interface ShownSwitch {
  agent: string;
  enhancement: 'on' | 'off';
  since: string | null;
  by: string | null;
  note: string | null;
  reason: string | null;
  sentence: string | null;
}

/** Everything that the monitors show. */
export interface MonitorReport {
  /** How well retries work, per agent, model and day, the latest day first. */
  monitors: (RetryRates & { day: string })[];
  overall: RetryRates[];
  remaining_failures: RemainingFailure[];
  switches: ShownSwitch[];
  /** How runs go and what they cost, per agent, as a whole and over time. */
  metrics: MetricsReport;
}

export interface MonitorQuery {
  agent?: string | undefined;
  model?: string | undefined;
  /** A day or a time. Default: 30 days ago. */
  since?: string | undefined;
  /** The length of a period in `metrics.series`. Default: `day`. */
  bucket?: MetricBucket | undefined;
}

export interface DecisionQuery {
  agent?: string | undefined;
  run_id?: string | undefined;
  /** A day or a time. Default: 30 days ago. */
  since?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

/** One page of `decisions`. Pass `next_cursor` as `cursor` to get the next page. */
export interface DecisionPage {
  decisions: ListedDecision[];
  next_cursor: string | null;
}

/** Figures over all runs, and the decisions of guards. */
export interface Monitors {
  read(query?: MonitorQuery, options?: CallOptions): Promise<MonitorReport>;
  /** Returns one page of what guards decided, the latest first, with what people said about each. */
  decisions(query?: DecisionQuery, options?: CallOptions): Promise<DecisionPage>;
  /** Says whether a decision of a guard was wrong. The latest verdict counts, and the false-alarm rate follows from it. */
  judge(
    decision: { run_id: string; decision_id: string },
    verdict: { wrong: boolean; by: string; reason?: string },
    options?: CallOptions,
  ): Promise<DecisionVerdict>;
}
