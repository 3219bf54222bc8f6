import type { ApiDeps } from '../api-context.ts';
import type { Route } from '../route.ts';
import { type Gauge, gauge } from '../watch/request-metrics.ts';
import { readMonitors } from '../../store/monitor-figures.ts';
import { monthAgo } from './monitors.ts';
import { monitorLines, refinementLines } from '../watch/monitor-metrics.ts';
import { within } from '../../protocol/within.ts';

/** A scrape must not wait for a Temporal that does not answer. */
const COUNT_MS = 1_000;

export const metrics: Route = {
  method: 'get',
  path: '/metrics',
  role: 'viewer',
  summary: 'Metrics of this process and of the runs, for Prometheus',
  answer: { status: 200, description: 'The text format of Prometheus', media: 'text/plain' },
  handle: async (c, deps) => {
    const [gauges, monitors] = await Promise.all([runGauges(deps), retryLines(deps)]);
    const text = [c.get('metrics').render(gauges).trimEnd(), ...monitors, ''].join('\n');
    return c.body(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  },
};

/** If the store does not answer, its metrics are left out and the others are still served. */
async function retryLines({ store }: ApiDeps): Promise<string[]> {
  const since = monthAgo();
  const asked = (): Promise<string[]> =>
    Promise.all([
      readMonitors(store, { since, limit: 1 }).then(monitorLines),
      store.feedbackLog.effectiveness({ since }).then(refinementLines),
    ])
      .then((lines) => lines.flat())
      .catch(() => []);
  return within(COUNT_MS, asked, () => []);
}

async function runGauges({ inspector }: ApiDeps): Promise<Gauge[]> {
  const counts = await within<Awaited<ReturnType<typeof inspector.counts>> | null>(
    COUNT_MS,
    () => inspector.counts().catch(() => null),
    () => null,
  );
  if (counts === null) return [];
  const { open, waiting_for_human: waiting } = counts;
  return [
    gauge('secondwind_runs_open', 'Runs that have not ended.', open),
    ...(waiting === null ? [] : [gauge('secondwind_questions_open', 'Runs that wait for a person.', waiting)]),
  ];
}
