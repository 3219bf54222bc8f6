import { defined } from '../../protocol/json.ts';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';
import type { Column } from '../show/table.ts';
import { dollars } from '../show/terminal-text.ts';

type Monitors = z.infer<(typeof SCHEMAS)['Monitors']>;
type Switched = z.infer<(typeof SCHEMAS)['Switched']>;
type Figures = Monitors['overall'][number] & { day?: string };
interface MonitorsFlags extends RemoteFlags {
  agent?: string;
  model?: string;
  since?: string;
  byDay?: boolean;
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

export function addMonitors(program: Command): void {
  withPerson(remoteCommand(program, 'monitors', 'show how well retries work and what they cost'))
    .option('--agent <name>', 'only this agent')
    .option('--model <name>', 'only this model')
    .option('--since <time>', 'only figures since this day or time (default: 30 days ago)')
    .option('--by-day', 'one row for each day')
    .addOption(
      new Option('--enhancement <switch>', 'switch the enhancement of the prompts of --agent').choices(['on', 'off']),
    )
    .option('--reason <text>', 'the reason to record')
    .action(async (given: MonitorsFlags) => {
      if (given.enhancement !== undefined) return switchEnhancement(given);
      const { agent, model, since, byDay, ...flags } = given;
      const [{ connectRemote }, { print }, { table, terminalWidth }, { oneLine }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/table.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const { api } = await connectRemote(flags);
      const { body } = await api.ask<Monitors>('GET', '/v1/monitors', { query: { agent, model, since } });
      const rows: Figures[] = byDay ? body.monitors : body.overall;
      print(flags, body, () => [
        ...(rows.length === 0
          ? ['No step was evaluated yet.']
          : table(byDay ? BY_DAY : FIGURES, rows, terminalWidth())),
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

const standing = ({ agent, enhancement, sentence, by, note }: Monitors['switches'][number]): string =>
  enhancement === 'off'
    ? `Enhancement is off for ${agent}. ${sentence ?? ''}`
    : `Enhancement is on for ${agent}${by === null ? '' : `, switched on by ${by}${note === null ? '' : ` (${note})`}`}.`;
