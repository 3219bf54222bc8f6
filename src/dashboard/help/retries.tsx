import type { MonitorReport, RetryRates } from '../../client/monitor-views.ts';
import { Inline } from '../parts/text.tsx';
import { dollars, percent } from './figures.ts';

interface RetriesProps {
  overall: RetryRates[];
  days: MonitorReport['monitors'];
  switches: MonitorReport['switches'];
  /** Whether any run has ended, which says why there is nothing to show. */
  hasRuns: boolean;
}

/** What retries with guidance bring and cost, for steps whose output is checked. */
export function Retries({ overall, days, switches, hasRuns }: RetriesProps) {
  return (
    <section aria-label="Retries">
      <h2>From the first attempt to the end</h2>
      {overall.length === 0 ? (
        <p className="small soft">
          {hasRuns ? 'No step of these runs was checked.' : 'No step was checked yet.'} Steps of a tool with{' '}
          <code>evaluates: true</code> are measured: how many were right at the first attempt, how many after retries,
          and what the retries cost.
        </p>
      ) : (
        <div className="stack">
          {overall.map((figures) => (
            <section
              key={`${figures.agent} ${figures.model}`}
              className="card help"
              aria-label={`Agent ${figures.agent}`}
            >
              <h3>
                <Inline text={figures.agent} max={80} />{' '}
                <span className="faint">
                  {figures.model ?? 'no model'} · {figures.evaluations} checked steps
                </span>
              </h3>
              <Funnel figures={figures} />
              <p className="small soft">
                {figures.recovered} recovered ({percent(figures.recovery)} of those that failed first) · retries added{' '}
                {figures.added_seconds.toFixed(1)} s and {dollars(figures.added_cost_micro_usd)} ·{' '}
                {dollars(figures.cost_per_extra_success_micro_usd)} per extra success
                {switches
                  .filter(({ agent }) => agent === figures.agent)
                  .map(
                    ({ enhancement, sentence }) =>
                      ` · enhancement is ${enhancement}${sentence === null ? '' : `: ${sentence}`}`,
                  )}
              </p>
              <Days days={days.filter(({ agent, model }) => agent === figures.agent && model === figures.model)} />
            </section>
          ))}
        </div>
      )}
    </section>
  );
}

/** Steps that no retry could fix. */
export function RemainingFailures({ failures }: { failures: MonitorReport['remaining_failures'] }) {
  if (failures.length === 0) return null;
  return (
    <section aria-label="Still failing">
      <h2>Still failing after all retries</h2>
      <ul className="small card">
        {failures.slice(0, 20).map((failure) => (
          <li key={failure.evaluation_id}>
            <Inline text={`${failure.agent}: ${failure.subject}`} max={120} />{' '}
            <span className="faint">
              {failure.category ?? 'no category'}, {failure.attempts} attempts
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** First attempt, after one retry, after all retries. */
function Funnel({ figures }: { figures: RetryRates }) {
  const { evaluations: n, first_attempt_success: first, final_success: final, retry_1 } = figures;
  const afterOne = first === null || n === 0 ? null : first + retry_1.succeeded / n;
  const rows: [string, number | null][] = [
    ['first attempt', first],
    ['after one retry', afterOne],
    ['in the end', final],
  ];
  return (
    <dl className="funnel">
      {rows.map(([name, share]) => (
        <div key={name}>
          <dt className="soft">{name}</dt>
          <dd>
            <span className="bar" aria-hidden="true">
              <span style={{ width: `${(share ?? 0) * 100}%` }} />
            </span>
            <strong>{percent(share)}</strong>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Days({ days }: { days: MonitorReport['monitors'] }) {
  if (days.length === 0) return null;
  return (
    <details>
      <summary className="small">By day</summary>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="By day">
        <table className="plain">
          <thead>
            <tr>
              <th>Day</th>
              <th className="number">Checked steps</th>
              <th className="number">First attempt</th>
              <th className="number">In the end</th>
              <th className="number">Recovered</th>
              <th className="number">Added cost</th>
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.day}>
                <td>{day.day}</td>
                <td className="number">{day.evaluations}</td>
                <td className="number">{percent(day.first_attempt_success)}</td>
                <td className="number">{percent(day.final_success)}</td>
                <td className="number">{day.recovered}</td>
                <td className="number">{dollars(day.added_cost_micro_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
