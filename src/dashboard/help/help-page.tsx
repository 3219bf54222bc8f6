import { type ReactNode, useEffect, useId } from 'react';
import { ProblemNotice } from '../parts/problem.tsx';
import { useNow } from '../parts/times.tsx';
import { setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { AgentTable } from './agent-table.tsx';
import { Charts } from './charts.tsx';
import { combine } from './combine.ts';
import { Decisions } from './decisions.tsx';
import { bucketStarts, PERIODS, readPeriod } from './period.ts';
import { RemainingFailures, Retries } from './retries.tsx';
import { Summary } from './summary.tsx';
import '../style/run.css';
import '../style/memory.css';
import '../style/help.css';

/** Whether retries, guards and lessons are worth what they cost, by agent and over time. */
export default function HelpPage() {
  const { client } = useSession();
  const { query } = usePlace();
  const now = useNow(true, 60_000);
  const period = readPeriod(query.get('period'));
  const agent = query.get('agent') ?? '';
  // The page asks again when a new bucket begins, and not every minute.
  const since = bucketStarts(period, now)[0] ?? '';
  const asked = useAsked(
    (signal) => client.monitors.read({ since, bucket: period.bucket }, { signal }),
    [client, since, period.bucket],
  );
  useEffect(() => {
    document.title = 'Does it help? · Secondwind';
  }, []);
  const { metrics, overall = [], monitors = [], switches = [], remaining_failures: remaining = [] } = asked.data ?? {};
  const isShown = (row: { agent: string | null }): boolean => agent === '' || row.agent === agent;
  const rows = (metrics?.overall ?? []).filter(isShown);
  const agents = [...new Set([...(metrics?.overall ?? []), ...overall].flatMap((row) => row.agent ?? []))].sort();
  const isEmpty = asked.data !== undefined && rows.length === 0 && !overall.some(isShown);
  return (
    <main>
      <div className="row wrap page-head">
        <h1 className="grow">Does it help?</h1>
        <Choice name="Agent" value={agent} onChange={(chosen) => setQuery({ agent: chosen })}>
          <option value="">all</option>
          {(agent === '' || agents.includes(agent) ? agents : [...agents, agent]).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Choice>
        <Choice name="Time" value={period.name} onChange={(chosen) => setQuery({ period: chosen })}>
          {PERIODS.map(({ name, words }) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </Choice>
      </div>
      {asked.error !== undefined && <ProblemNotice error={asked.error} onRetry={asked.reload} />}
      {isEmpty && (
        <div className="card empty">
          <h2>Nothing was measured yet</h2>
          <p className="soft">
            Every run that ends is measured: how it ended, how often it repeated itself, what a step cost, and what it
            spent in vain. Start a run, and look again when it has ended.
          </p>
        </div>
      )}
      {metrics !== undefined && !isEmpty && (
        <div className="help-sections">
          <Summary overall={combine(rows)} lessons={metrics.lessons.filter(isShown)} />
          <Retries
            overall={overall.filter(isShown)}
            days={monitors}
            switches={switches}
            hasRuns={rows.some(({ runs }) => runs > 0)}
          />
          <Charts overall={combine(rows)} series={metrics.series.filter(isShown)} period={period} now={now} />
          <AgentTable rows={rows} />
          <Decisions agent={agent === '' ? undefined : agent} since={since} now={now} onJudged={asked.reload} />
          <RemainingFailures failures={remaining.filter(isShown)} />
        </div>
      )}
    </main>
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}

function Choice({ name, value, onChange, children }: ChoiceProps) {
  const id = useId();
  return (
    <div className="row small">
      <label className="soft" htmlFor={id}>
        {name}
      </label>
      <select id={id} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
    </div>
  );
}
