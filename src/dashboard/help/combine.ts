import type { RunMetrics } from '../../protocol/run-metrics.ts';

const sum = (rows: readonly RunMetrics[], value: (row: RunMetrics) => number): number =>
  rows.reduce((total, row) => total + value(row), 0);
const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Adds the metrics of several agents up. A rate is weighted by what it was measured on. */
export function combine(rows: readonly RunMetrics[]): RunMetrics {
  const [only] = rows;
  if (only !== undefined && rows.length === 1) return only;
  const runs = sum(rows, (row) => row.runs);
  const steps = sum(rows, (row) => row.steps);
  const attempts = sum(rows, (row) => row.attempts);
  const retrievals = sum(rows, (row) => row.retrievals);
  const repeated = sum(rows, (row) => row.repeated_failures);
  const ends = (outcome: keyof RunMetrics['outcomes']): number => sum(rows, (row) => row.outcomes[outcome]);
  const asked = sum(rows, (row) => row.escalations.ask_human);
  const wasted = sum(rows, (row) => row.waste.attempts);
  const decisions = sum(rows, (row) => row.guard.decisions);
  const wrong = sum(rows, (row) => row.guard.wrong);
  return {
    agent: null,
    runs,
    outcomes: {
      completed: ends('completed'),
      finalized: ends('finalized'),
      system_error: ends('system_error'),
      budget_exhausted: ends('budget_exhausted'),
      cancelled: ends('cancelled'),
    },
    loop_rate: share(
      sum(rows, (row) => (row.loop_rate ?? 0) * row.runs),
      runs,
    ),
    repeated_failures: repeated,
    repeated_failures_per_run: share(repeated, runs),
    retrievals,
    evidence_coverage: share(
      sum(rows, (row) => (row.evidence_coverage ?? 0) * row.retrievals),
      retrievals,
    ),
    steps,
    attempts,
    seconds_per_step: share(
      sum(rows, (row) => (row.seconds_per_step ?? 0) * row.steps),
      steps,
    ),
    cost_per_step_micro_usd: share(
      sum(rows, (row) => (row.cost_per_step_micro_usd ?? 0) * row.steps),
      steps,
    ),
    escalations: { ask_human: asked, system_error: ends('system_error') },
    escalations_per_run: share(asked + ends('system_error'), runs),
    held_calls: sum(rows, (row) => row.held_calls),
    waste: {
      attempts: wasted,
      seconds: sum(rows, (row) => row.waste.seconds),
      cost_micro_usd: sum(rows, (row) => row.waste.cost_micro_usd),
      share_of_attempts: share(wasted, attempts),
    },
    guard: {
      decisions,
      judged: sum(rows, (row) => row.guard.judged),
      wrong,
      false_alarm_rate: share(wrong, decisions),
    },
  };
}
