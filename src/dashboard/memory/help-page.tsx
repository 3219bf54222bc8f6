import { useEffect } from 'react';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline } from '../parts/text.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import '../style/run.css';
import '../style/memory.css';

interface Figures {
  agent: string;
  model: string | null;
  evaluations: number;
  first_attempt_success: number | null;
  retry_1: { tried: number; succeeded: number };
  retry_2: { tried: number; succeeded: number };
  final_success: number | null;
  recovered: number;
  recovery: number | null;
  added_seconds: number;
  added_cost_micro_usd: number;
  cost_per_extra_success_micro_usd: number | null;
}
interface Monitors {
  monitors: (Figures & { day: string })[];
  overall: Figures[];
  remaining_failures: {
    evaluation_id: string;
    agent: string;
    subject: string;
    category: string | null;
    attempts: number;
  }[];
  switches: { agent: string; enhancement: 'on' | 'off'; by: string | null; sentence: string | null }[];
}

const percent = (share: number | null): string =>
  share === null ? '–' : `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;
const dollars = (micro: number | null): string => (micro === null ? '–' : `$${(micro / 1_000_000).toFixed(4)}`);

/** Whether retries with guidance are worth what they cost, by agent and over time. */
export default function HelpPage() {
  const { client } = useSession();
  const asked = useAsked(
    async (signal) => (await client.api.ask<Monitors>('GET', '/v1/monitors', { signal })).body,
    [client],
  );
  useEffect(() => {
    document.title = 'Does it help? · Secondwind';
  }, []);
  const { overall = [], monitors = [], switches = [], remaining_failures: remaining = [] } = asked.data ?? {};
  return (
    <main>
      <div className="row wrap page-head">
        <h1 className="grow">Does it help?</h1>
        <p className="faint small">the last 30 days</p>
      </div>
      {asked.error !== undefined && <ProblemNotice error={asked.error} onRetry={asked.reload} />}
      {asked.data !== undefined && overall.length === 0 && (
        <div className="card empty">
          <h2>Nothing was measured yet</h2>
          <p className="soft">
            Steps whose output is checked are measured: how many were right at the first attempt, how many after retries
            with guidance, and what the retries cost.
          </p>
        </div>
      )}
      <div className="stack">
        {overall.map((figures) => (
          <section
            key={`${figures.agent} ${figures.model}`}
            className="card help"
            aria-label={`Agent ${figures.agent}`}
          >
            <h2>
              <Inline text={figures.agent} max={80} />{' '}
              <span className="faint small">
                {figures.model ?? 'no model'} · {figures.evaluations} checked steps
              </span>
            </h2>
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
            <Days days={monitors.filter(({ agent, model }) => agent === figures.agent && model === figures.model)} />
          </section>
        ))}
        {remaining.length > 0 && (
          <section className="card" aria-label="Still failing">
            <h2>Still failing after all retries</h2>
            <ul className="small">
              {remaining.slice(0, 20).map((failure) => (
                <li key={failure.evaluation_id}>
                  <Inline text={`${failure.agent}: ${failure.subject}`} max={120} />{' '}
                  <span className="faint">
                    {failure.category ?? 'no category'}, {failure.attempts} attempts
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </main>
  );
}

/** First attempt, after one retry, after all retries. */
function Funnel({ figures }: { figures: Figures }) {
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

function Days({ days }: { days: (Figures & { day: string })[] }) {
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
