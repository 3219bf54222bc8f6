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

/** Writes the figures in the text format of Prometheus. An unknown rate has no line. */
export function monitorLines({ overall, switches }: Pick<Monitors, 'overall' | 'switches'>): string[] {
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

const head = (name: string, help: string): string[] => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`];
const labels = ({ agent, model }: { agent: string; model: string | null }): string =>
  `agent="${escaped(agent)}",model="${escaped(model ?? '')}"`;
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').slice(0, 128);
