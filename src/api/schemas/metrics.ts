import { z } from 'zod';
import { DECISION_ACTIONS, DECISION_KINDS, type ListedDecision } from '../../protocol/guard-decisions.ts';
import { type LessonMetrics, METRIC_BUCKETS, type RunMetrics } from '../../protocol/run-metrics.ts';
import { nextCursor } from './shared-schemas.ts';

/** The schemas of run metrics, and of the decisions of guards. */
const rate = z.number().nullable();
const count = z.int().min(0);

const runMetrics = {
  /** Null for passes that run elsewhere, which have only decisions of guards. */
  agent: z.string().nullable(),
  runs: count,
  outcomes: z.strictObject({
    completed: count,
    finalized: count,
    system_error: count,
    budget_exhausted: count,
    cancelled: count,
  }),
  loop_rate: rate,
  repeated_failures: count,
  repeated_failures_per_run: rate,
  retrievals: count,
  evidence_coverage: rate,
  steps: count,
  attempts: count,
  seconds_per_step: rate,
  cost_per_step_micro_usd: rate,
  escalations: z.strictObject({ ask_human: count, system_error: count }),
  escalations_per_run: rate,
  held_calls: count,
  waste: z.strictObject({ attempts: count, seconds: z.number(), cost_micro_usd: count, share_of_attempts: rate }),
  guard: z.strictObject({ decisions: count, judged: count, wrong: count, false_alarm_rate: rate }),
} satisfies { [field in keyof RunMetrics]: z.ZodType<RunMetrics[field]> };

const lessonMetrics: z.ZodType<LessonMetrics> = z.strictObject({
  agent: z.string(),
  shown: count,
  shown_same_again: count,
  withheld: count,
  withheld_same_again: count,
  repeats_avoided: rate,
});

export const metricsReport = z.strictObject({
  bucket: z.enum(METRIC_BUCKETS),
  overall: z.array(z.strictObject(runMetrics)),
  series: z.array(z.strictObject({ ...runMetrics, from: z.string() })),
  lessons: z.array(lessonMetrics),
});

const verdict = z.strictObject({
  wrong: z.boolean(),
  by: z.string(),
  reason: z.string().nullable(),
  at: z.string(),
});
const listedDecision: z.ZodType<ListedDecision> = z.strictObject({
  decision_id: z.string(),
  run_id: z.string(),
  agent: z.string().nullable(),
  kind: z.enum(DECISION_KINDS),
  rule: z.string(),
  action: z.enum(DECISION_ACTIONS),
  why: z.string(),
  loop_id: z.string(),
  step_id: z.int().nullable(),
  fingerprint: z.string().nullable(),
  at: z.string(),
  verdict: verdict.nullable(),
});

export const METRICS_SCHEMAS = {
  Decisions: z.strictObject({ decisions: z.array(listedDecision), next_cursor: nextCursor }),
  VerdictRequest: z.strictObject({
    wrong: z.boolean(),
    by: z.string().min(1).max(200),
    reason: z.string().min(1).max(1_000).optional(),
  }),
  DecisionVerdict: verdict,
} as const;
