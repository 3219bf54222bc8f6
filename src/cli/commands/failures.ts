import type { Command } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import type { FailureItem } from '../../client/views.ts';
import { describeRefs } from '../../core/failures/describe-refs.ts';
import { remoteCommand } from '../ask/command.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';
import type { Column } from '../show/table.ts';

type Fingerprints = z.infer<(typeof SCHEMAS)['Fingerprints']>;
interface FailuresFlags extends RemoteFlags {
  agent?: string;
  since?: string;
}

const OF_RUN: Column<FailureItem>[] = [
  { head: 'FINGERPRINT', cell: (item) => item.fingerprint },
  { head: 'STEP', cell: (item) => String(item.step_id), right: true },
  { head: 'SIGNAL', cell: (item) => item.signal_type },
  { head: 'STATUS', cell: (item) => item.status },
  { head: 'SEEN', cell: (item) => String(item.occurrence_count), right: true },
  { head: 'WHAT', cell: describeFailure, flexible: true },
];
const BY_DAY: Column<Fingerprints['fingerprints'][number]>[] = [
  { head: 'FINGERPRINT', cell: (row) => row.fingerprint },
  { head: 'DAY', cell: (row) => row.day },
  { head: 'SEEN', cell: (row) => String(row.occurrence_count), right: true },
  { head: 'RUNS', cell: (row) => String(row.run_count), right: true },
];

function describeFailure({ observed_outcome: { error_code, message_preview }, context_refs }: FailureItem): string {
  const refs = describeRefs(context_refs);
  const about = refs.length === 0 ? '' : `(${refs.map(({ name, value }) => `${name} ${value}`).join('; ')})`;
  return [error_code, message_preview, about].filter(Boolean).join(' ');
}

export function addFailures(program: Command): void {
  remoteCommand(program, 'failures [run_id]', 'list the failures of a run, or without an id those of all runs by day')
    .option('--agent <name>', 'without an id: only failures of this agent')
    .option('--since <time>', 'without an id: only failures since this day or time (default: 30 days ago)')
    .action(async (runId: string | undefined, flags: FailuresFlags) => {
      const { connectRemote } = await import('../ask/connect-remote.ts');
      const remote = await connectRemote(flags);
      await (runId === undefined ? showAll(remote, flags) : showRun(remote, runId, flags));
    });
}

async function showRun({ runs }: HttpClient, runId: string, flags: FailuresFlags): Promise<void> {
  const [{ print }, { table, terminalWidth }] = await Promise.all([
    import('../show/print.ts'),
    import('../show/table.ts'),
  ]);
  const failures = await runs.failures(runId);
  print(flags, { failures }, () =>
    failures.length === 0 ? ['No failures.'] : table(OF_RUN, failures, terminalWidth()),
  );
}

async function showAll({ api }: HttpClient, { agent, since, ...flags }: FailuresFlags): Promise<void> {
  const [{ print }, { table, terminalWidth }] = await Promise.all([
    import('../show/print.ts'),
    import('../show/table.ts'),
  ]);
  const { body } = await api.ask<Fingerprints>('GET', '/v1/fingerprints', { query: { agent, since } });
  print(flags, body, () =>
    body.fingerprints.length === 0 ? ['No failures.'] : table(BY_DAY, body.fingerprints, terminalWidth()),
  );
}
