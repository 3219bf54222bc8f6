import type { RunMetrics } from '../../protocol/run-metrics.ts';
import type { ActionEffect } from '../../store/feedback-log.ts';
import type { Monitors } from '../../store/monitor-figures.ts';

/** The figures of the retry monitors for charts and alerts, by their names in the answer of /v1/monitors. */
const FIGURES = [
  ['evaluations', 'Evaluated steps of the last 30 days.'],
  ['first_attempt_success', 'Share that succeeded at the first attempt.'],
  ['final_success', 'Share that succeeded in the end.'],
  ['recovery', 'Share of the steps that failed at first and succeeded after a retry.'],
  ['added_seconds', 'Seconds that retries added.'],
  ['added_cost_micro_usd', 'Cost that retries added, in micro-USD.'],
  ['runtime_overhead', 'Time that retries added, against the work without them.'],
  ['cost_overhead', 'Cost that retries added, against the work without them.'],
] as const;

/** The metrics of runs of the last 30 days, per agent. The names of the first column follow `secondwind_`. */
const RUN_METRICS: [name: string, help: string, read: (row: RunMetrics) => number | null][] = [
  ['loop_rate', 'Share of ended runs in which the agent repeated itself.', (row) => row.loop_rate],
  [
    'repeated_failures_per_run',
    'Failures per ended run that the run had recorded before.',
    (row) => row.repeated_failures_per_run,
  ],
  ['evidence_coverage', 'Share of retrieval steps that brought evidence.', (row) => row.evidence_coverage],
  ['step_seconds', 'Seconds of work per step, waits for people left out.', (row) => row.seconds_per_step],
  ['step_cost_micro_usd', 'Cost per step, in micro-USD.', (row) => row.cost_per_step_micro_usd],
  [
    'escalations_per_run',
    'Questions except approvals, and system errors, per ended run.',
    (row) => row.escalations_per_run,
  ],
  ['held_calls', 'Repeated calls that were answered with guidance instead of being run.', (row) => row.held_calls],
  ['waste_attempts', 'Attempts after the last progress of runs that did not complete.', (row) => row.waste.attempts],
  ['waste_seconds', 'Seconds after the last progress of runs that did not complete.', (row) => row.waste.seconds],
  [
    'waste_cost_micro_usd',
    'Cost after the last progress of runs that did not complete, in micro-USD.',
    (row) => row.waste.cost_micro_usd,
  ],
  ['guard_decisions', 'Decisions of guards.', (row) => row.guard.decisions],
  ['guard_decisions_wrong', 'Decisions of guards that people called wrong.', (row) => row.guard.wrong],
  [
    'guard_false_alarm_rate',
    'Share of the decisions of guards that people called wrong.',
    (row) => row.guard.false_alarm_rate,
  ],
];

/** Writes the metrics of runs, and how many runs ended in each way. */
function runLines(rows: readonly RunMetrics[]): string[] {
  const metrics = RUN_METRICS.flatMap(([name, help, read]) => {
    const lines = rows.flatMap((row) => {
      const value = read(row);
      return value === null ? [] : [`secondwind_${name}{agent="${escaped(row.agent ?? '')}"} ${value}`];
    });
    return lines.length === 0 ? [] : [...head(`secondwind_${name}`, help), ...lines];
  });
  const outcomes = rows.flatMap(({ agent, runs, outcomes: ends }) =>
    runs === 0
      ? []
      : Object.entries(ends).map(
          ([outcome, ended]) => `secondwind_runs_ended{agent="${escaped(agent ?? '')}",outcome="${outcome}"} ${ended}`,
        ),
  );
  if (outcomes.length === 0) return metrics;
  return [...metrics, ...head('secondwind_runs_ended', 'Runs that ended in the last 30 days.'), ...outcomes];
}

/** Writes everything in the text format of Prometheus. An unknown rate has no line. */
export const monitorLines = (monitors: Pick<Monitors, 'overall' | 'switches' | 'metrics'>): string[] => [
  ...retryLines(monitors),
  ...runLines(monitors.metrics.overall),
];

function retryLines({ overall, switches }: Pick<Monitors, 'overall' | 'switches'>): string[] {
  const figures = FIGURES.flatMap(([figure, help]) => {
    const lines = overall.flatMap((row) => {
      const value = row[figure];
      return value === null ? [] : [`secondwind_retry_${figure}{${labels(row)}} ${value}`];
    });
    return lines.length === 0 ? [] : [...head(`secondwind_retry_${figure}`, help), ...lines];
  });
  const states = switches.map(({ agent, enhancement }) => {
    return `secondwind_enhancement_on{agent="${escaped(agent)}"} ${enhancement === 'on' ? 1 : 0}`;
  });
  if (states.length === 0) return figures;
  return [...figures, ...head('secondwind_enhancement_on', 'Whether prompts of retries are enhanced.'), ...states];
}

/** Writes how often each refinement action was applied in the last 30 days, and how often success followed. */
export function refinementLines(rows: readonly ActionEffect[]): string[] {
  if (rows.length === 0) return [];
  const line = (name: string, read: (row: ActionEffect) => number) => (row: ActionEffect) =>
    `secondwind_${name}{source="${row.source}",feedback_type="${escaped(row.feedback_type)}",action="${escaped(row.action)}"} ${read(row)}`;
  return [
    ...head('secondwind_refinements', 'Refinement actions that were applied in the last 30 days.'),
    ...rows.map(line('refinements', ({ n }) => n)),
    ...head('secondwind_refinements_succeeded', 'Refinement actions that were followed by success.'),
    ...rows.map(line('refinements_succeeded', ({ succeeded }) => succeeded)),
  ];
}

const head = (name: string, help: string): string[] => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`];
const labels = ({ agent, model }: { agent: string; model: string | null }): string =>
  `agent="${escaped(agent)}",model="${escaped(model ?? '')}"`;
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').slice(0, 128);
