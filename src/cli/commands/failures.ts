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
type KnownFailures = z.infer<(typeof SCHEMAS)['KnownFailures']>;
interface FailuresFlags extends RemoteFlags {
  agent?: string;
  since?: string;
  search?: string;
  tool?: string;
  code?: string;
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
const KNOWN: Column<KnownFailures['known_failures'][number]>[] = [
  { head: 'FINGERPRINT', cell: (row) => row.fingerprint },
  { head: 'SEEN', cell: (row) => String(row.occurrence_count), right: true },
  { head: 'RUNS', cell: (row) => String(row.run_count), right: true },
  { head: 'STATUS', cell: (row) => row.status },
  { head: 'MESSAGE', cell: (row) => row.message_preview ?? '', flexible: true },
  { head: 'LESSON', cell: (row) => row.lesson?.content ?? '', flexible: true },
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
    .option(
      '--search <text>',
      'search the known failures for words, or beginnings of words, of the message, the tool or the code',
    )
    .option('--tool <name>', 'list the known failures of this tool')
    .option('--code <code>', 'list the known failures with this error code')
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

async function showAll({ api }: HttpClient, flags: FailuresFlags): Promise<void> {
  const { agent, since, search, tool, code } = flags;
  const [{ print }, { table, terminalWidth }] = await Promise.all([
    import('../show/print.ts'),
    import('../show/table.ts'),
  ]);
  if (search !== undefined || tool !== undefined || code !== undefined) {
    const query = { q: search, tool, code, agent, since };
    const { body } = await api.ask<KnownFailures>('GET', '/v1/known-failures', { query });
    print(flags, body, () =>
      body.known_failures.length === 0 ? ['No such failure.'] : table(KNOWN, body.known_failures, terminalWidth()),
    );
    return;
  }
  const { body } = await api.ask<Fingerprints>('GET', '/v1/fingerprints', { query: { agent, since } });
  print(flags, body, () =>
    body.fingerprints.length === 0 ? ['No failures.'] : table(BY_DAY, body.fingerprints, terminalWidth()),
  );
}
