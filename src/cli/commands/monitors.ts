import type { Command } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/index.ts';
import { remoteCommand } from '../remote/command.ts';
import type { RemoteFlags } from '../remote/connect.ts';
import type { Column } from '../show/table.ts';

type Monitors = z.infer<(typeof SCHEMAS)['Monitors']>;
type Figures = Monitors['overall'][number] & { day?: string };
interface MonitorsFlags extends RemoteFlags {
  agent?: string;
  model?: string;
  since?: string;
  byDay?: boolean;
}

const share = (rate: number | null): string => (rate === null ? '-' : `${(rate * 100).toFixed(1)} %`);
const dollars = (micro: number | null): string => (micro === null ? '-' : `$${(micro / 1_000_000).toFixed(4)}`);

const FIGURES: Column<Figures>[] = [
  { head: 'AGENT', cell: (row) => row.agent },
  { head: 'MODEL', cell: (row) => row.model ?? '-' },
  { head: 'CHECKED', cell: (row) => String(row.evaluations), right: true },
  { head: 'FIRST TRY', cell: (row) => share(row.first_attempt_success), right: true },
  { head: 'IN THE END', cell: (row) => share(row.final_success), right: true },
  { head: 'RECOVERED', cell: (row) => share(row.recovery), right: true },
  { head: 'ADDED TIME', cell: (row) => `${row.added_seconds.toFixed(1)} s`, right: true },
  { head: 'ADDED COST', cell: (row) => dollars(row.added_cost_micro_usd), right: true },
];
const BY_DAY: Column<Figures>[] = [{ head: 'DAY', cell: (row) => row.day ?? '' }, ...FIGURES];

export function addMonitors(program: Command): void {
  remoteCommand(program, 'monitors', 'how well retries work and what they cost')
    .option('--agent <name>', 'only this agent')
    .option('--model <name>', 'only this model')
    .option('--since <time>', 'from this day or time on (default: 30 days ago)')
    .option('--by-day', 'a row for each day')
    .action(async ({ agent, model, since, byDay, ...flags }: MonitorsFlags) => {
      const [{ connectRemote }, { print }, { table, terminalWidth }, { oneLine }] = await Promise.all([
        import('../remote/connect.ts'),
        import('../show/print.ts'),
        import('../show/table.ts'),
        import('../show/text.ts'),
      ]);
      const { door } = await connectRemote(flags);
      const { body } = await door.ask<Monitors>('GET', '/v1/monitors', { query: { agent, model, since } });
      const rows: Figures[] = byDay ? body.monitors : body.overall;
      print(flags, body, () => [
        ...(rows.length === 0 ? ['Nothing was checked yet.'] : table(byDay ? BY_DAY : FIGURES, rows, terminalWidth())),
        ...body.switches.map(
          (entry) =>
            `Enhancement is ${entry.enhancement} for ${oneLine(entry.agent)}. ${oneLine(entry.sentence ?? '')}`,
        ),
      ]);
    });
}
