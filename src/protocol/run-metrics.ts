import type { RunOutcome } from './run.ts';

/** What a run tells the monitors when it ends: counts, and nothing of its content. */
export interface RunFigures {
  /** How long the run took, without the time in which it waited for people. */
  work_ms: number;
  /** What models and tools cost. A budget counts only models. */
  cost_micro_usd: number;
  /** Questions to people, except approvals: an approval is part of the plan. */
  escalations: number;
  /** Calls that were answered with guidance instead of being run. */
  held_calls: number;
  /** Steps that called a retrieval tool, and those of them that brought evidence. */
  retrievals: number;
  with_evidence: number;
  /** What a run that did not complete used after its last progress. */
  waste: { attempts: number; ms: number; cost_micro_usd: number };
}

export const METRIC_BUCKETS = ['hour', 'day'] as const;
export type MetricBucket = (typeof METRIC_BUCKETS)[number];

type Rate = number | null;

/** The metrics of the runs of one agent that ended in a period. A rate without anything to measure is null. */
export interface RunMetrics {
  /** Null for passes that run elsewhere, which have only decisions of guards. */
  agent: string | null;
  runs: number;
  outcomes: Record<RunOutcome, number>;
  /** The share of runs in which the agent repeated itself. */
  loop_rate: Rate;
  /** Failures whose fingerprint the run had recorded before. */
  repeated_failures: number;
  repeated_failures_per_run: Rate;
  retrievals: number;
  /** The share of retrieval steps that brought evidence. */
  evidence_coverage: Rate;
  steps: number;
  attempts: number;
  seconds_per_step: Rate;
  cost_per_step_micro_usd: Rate;
  /** Questions to people except approvals, and runs that ended as a system error. */
  escalations: { ask_human: number; system_error: number };
  escalations_per_run: Rate;
  /** Calls that were answered with guidance instead of being run. */
  held_calls: number;
  /** What runs that did not complete used after their last progress. */
  waste: { attempts: number; seconds: number; cost_micro_usd: number; share_of_attempts: Rate };
  /** Decisions of guards in the period, and how many of them people called wrong. */
  guard: { decisions: number; judged: number; wrong: number; false_alarm_rate: Rate };
}

/** What lessons changed, by the trials of runs that ended in the period. */
export interface LessonMetrics {
  agent: string;
  shown: number;
  shown_same_again: number;
  withheld: number;
  withheld_same_again: number;
  /** How many repeats the lessons prevented in the runs that saw them, estimated from those that did not; null without any of these. */
  repeats_avoided: Rate;
}

export interface MetricsReport {
  bucket: MetricBucket;
  /** Per agent over the whole period. */
  overall: RunMetrics[];
  /** Per agent and bucket, the latest bucket first. */
  series: (RunMetrics & { from: string })[];
  lessons: LessonMetrics[];
}
