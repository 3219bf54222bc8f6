import type { RunMetrics } from '../../protocol/run-metrics.ts';
import { Inline } from '../parts/text.tsx';
import { decimal, dollars, percent, seconds } from './figures.ts';

const COLUMNS: [head: string, cell: (row: RunMetrics) => string][] = [
  ['Runs', (row) => String(row.runs)],
  ['Completed', (row) => (row.runs === 0 ? '–' : percent(row.outcomes.completed / row.runs))],
  ['Loop rate', (row) => percent(row.loop_rate)],
  ['Repeats per run', (row) => decimal(row.repeated_failures_per_run)],
  ['Evidence', (row) => percent(row.evidence_coverage)],
  ['Time per step', (row) => seconds(row.seconds_per_step)],
  ['Cost per step', (row) => dollars(row.cost_per_step_micro_usd)],
  ['Escalations per run', (row) => decimal(row.escalations_per_run)],
  ['Waste', (row) => percent(row.waste.share_of_attempts)],
  ['False alarms', (row) => (row.guard.decisions === 0 ? '–' : `${row.guard.wrong} of ${row.guard.decisions}`)],
];

/** The same figures side by side for each agent. */
export function AgentTable({ rows }: { rows: RunMetrics[] }) {
  if (rows.length === 0) return null;
  return (
    <section aria-label="By agent">
      <h2>By agent</h2>
      <div className="card scroll-x" tabIndex={0} role="region" aria-label="Figures by agent">
        <table className="plain agent-table">
          <thead>
            <tr>
              <th>Agent</th>
              {COLUMNS.map(([head]) => (
                <th key={head} className="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.agent}>
                <td>{row.agent === null ? <em>elsewhere</em> : <Inline text={row.agent} max={60} />}</td>
                {COLUMNS.map(([head, cell]) => (
                  <td key={head} className="number">
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
