import { defined } from '../../protocol/json.ts';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import type { MetricBucket, MonitorReport, RetryRates, RunMetrics } from '../../client/monitor-views.ts';
import { METRIC_BUCKETS } from '../../protocol/run-metrics.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';
import type { Column } from '../show/table.ts';
import { dollars } from '../show/terminal-text.ts';

type Switched = z.infer<(typeof SCHEMAS)['Switched']>;
type Figures = RetryRates & { day?: string };
type Metrics = RunMetrics & { from?: string };
interface MonitorsFlags extends RemoteFlags {
  agent?: string;
  model?: string;
  since?: string;
  byDay?: boolean;
  bucket?: MetricBucket;
  enhancement?: 'on' | 'off';
  by?: string;
  reason?: string;
}

const share = (rate: number | null): string => (rate === null ? '-' : `${(rate * 100).toFixed(1)} %`);
const cost = (microUsd: number | null): string => (microUsd === null ? '-' : dollars(microUsd));

const FIGURES: Column<Figures>[] = [
  { head: 'AGENT', cell: (row) => row.agent },
  { head: 'MODEL', cell: (row) => row.model ?? '-' },
  { head: 'CHECKED', cell: (row) => String(row.evaluations), right: true },
  { head: 'FIRST TRY', cell: (row) => share(row.first_attempt_success), right: true },
  { head: 'IN THE END', cell: (row) => share(row.final_success), right: true },
  { head: 'RECOVERED', cell: (row) => share(row.recovery), right: true },
  { head: 'ADDED TIME', cell: (row) => `${row.added_seconds.toFixed(1)} s`, right: true },
  { head: 'ADDED COST', cell: (row) => cost(row.added_cost_micro_usd), right: true },
];
const BY_DAY: Column<Figures>[] = [{ head: 'DAY', cell: (row) => row.day ?? '' }, ...FIGURES];

const number = (value: number | null, digits: number): string => (value === null ? '-' : value.toFixed(digits));

const METRICS: Column<Metrics>[] = [
  { head: 'AGENT', cell: (row) => row.agent ?? '(elsewhere)' },
  { head: 'RUNS', cell: (row) => String(row.runs), right: true },
  { head: 'COMPLETED', cell: (row) => String(row.outcomes.completed), right: true },
  { head: 'LOOPS', cell: (row) => share(row.loop_rate), right: true },
  { head: 'REPEATS/RUN', cell: (row) => number(row.repeated_failures_per_run, 2), right: true },
  { head: 'EVIDENCE', cell: (row) => share(row.evidence_coverage), right: true },
  { head: 'S/STEP', cell: (row) => number(row.seconds_per_step, 2), right: true },
  { head: 'COST/STEP', cell: (row) => cost(row.cost_per_step_micro_usd), right: true },
  { head: 'ESCALATED/RUN', cell: (row) => number(row.escalations_per_run, 2), right: true },
  { head: 'WASTED', cell: (row) => share(row.waste.share_of_attempts), right: true },
  { head: 'FALSE ALARMS', cell: (row) => falseAlarms(row.guard), right: true },
];
const OVER_TIME: Column<Metrics>[] = [{ head: 'FROM', cell: (row) => row.from ?? '' }, ...METRICS];

const falseAlarms = ({ decisions, wrong }: RunMetrics['guard']): string =>
  decisions === 0 ? '-' : `${wrong} of ${decisions}`;

export function addMonitors(program: Command): void {
  withPerson(remoteCommand(program, 'monitors', 'show how well retries work, how runs go and what they cost'))
    .option('--agent <name>', 'only this agent')
    .option('--model <name>', 'only this model')
    .option('--since <time>', 'only figures since this day or time (default: 30 days ago)')
    .option('--by-day', 'one row for each day')
    .addOption(new Option('--bucket <length>', 'one row for each hour or day, of how runs go').choices(METRIC_BUCKETS))
    .addOption(
      new Option('--enhancement <switch>', 'switch the enhancement of the prompts of --agent').choices(['on', 'off']),
    )
    .option('--reason <text>', 'the reason to record')
    .action(async (given: MonitorsFlags) => {
      if (given.enhancement !== undefined) return switchEnhancement(given);
      const { agent, model, since, byDay, bucket, ...flags } = given;
      const [{ connectRemote }, { print }, { table, terminalWidth }, { oneLine }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/table.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const { monitors } = await connectRemote(flags);
      const body = await monitors.read({ agent, model, since, bucket });
      const isOverTime = byDay === true || bucket !== undefined;
      const metrics: Metrics[] = isOverTime ? body.metrics.series : body.metrics.overall;
      const rows: Figures[] = byDay ? body.monitors : body.overall;
      print(flags, body, () => [
        ...(rows.length === 0
          ? ['No step was evaluated yet.']
          : table(byDay ? BY_DAY : FIGURES, rows, terminalWidth())),
        '',
        ...(metrics.length === 0
          ? ['No run has ended yet.']
          : table(isOverTime ? OVER_TIME : METRICS, metrics, terminalWidth())),
        ...body.switches.map((entry) => oneLine(standing(entry))),
      ]);
    });
}

async function switchEnhancement({ agent, enhancement, reason, ...flags }: MonitorsFlags): Promise<void> {
  if (agent === undefined) {
    throw new SecondwindError('bad_usage', '--enhancement needs an agent.', 'Name it with --agent.');
  }
  const [{ connectRemote }, { print }, { oneLine }] = await Promise.all([
    import('../ask/connect-remote.ts'),
    import('../show/print.ts'),
    import('../show/terminal-text.ts'),
  ]);
  const { api } = await connectRemote(flags);
  const request = { agent, enhancement, by: readPerson(flags), ...defined({ reason }) };
  const { body } = await api.ask<Switched>('POST', '/v1/monitors/enhancement', { body: request });
  print(flags, body, () => [oneLine(`${body.switched ? '' : 'Nothing has changed. '}${standing(body)}`)]);
}

const standing = ({ agent, enhancement, sentence, by, note }: MonitorReport['switches'][number]): string =>
  enhancement === 'off'
    ? `Enhancement is off for ${agent}. ${sentence ?? ''}`
    : `Enhancement is on for ${agent}${by === null ? '' : `, switched on by ${by}${note === null ? '' : ` (${note})`}`}.`;
