import type { Command } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';
import type { Column } from '../show/table.ts';

type Effectiveness = z.infer<(typeof SCHEMAS)['FeedbackEffectiveness']>;

const ACTIONS: Column<Effectiveness['effectiveness'][number]>[] = [
  { head: 'ACTION', cell: (row) => row.action },
  { head: 'AFTER', cell: (row) => row.feedback_type },
  { head: 'FROM', cell: (row) => (row.source === 'person' ? 'people' : 'tool output') },
  { head: 'N', cell: (row) => String(row.n), right: true },
  {
    head: 'SUCCESS FOLLOWED',
    cell: (row) => `${row.succeeded} (${Math.round(row.success_rate * 100)} %)`,
    right: true,
  },
];

export function addRefinements(program: Command): void {
  remoteCommand(program, 'refinements', 'show which refinements of prompts were followed by success')
    .option('--since <time>', 'only refinements since this day or time')
    .action(async ({ since, ...flags }: RemoteFlags & { since?: string }) => {
      const [{ connectRemote }, { print }, { table, terminalWidth }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/table.ts'),
      ]);
      const { api } = await connectRemote(flags);
      const { body } = await api.ask<Effectiveness>('GET', '/v1/feedback/effectiveness', { query: { since } });
      print(flags, body, () =>
        body.effectiveness.length === 0 ? ['No refinements.'] : table(ACTIONS, body.effectiveness, terminalWidth()),
      );
    });
}
