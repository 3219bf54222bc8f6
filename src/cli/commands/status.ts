import type { Command } from 'commander';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addStatus(program: Command): void {
  remoteCommand(
    program,
    'status <run_id>',
    'show the status of a run and the reason for it; the exit code shows it too',
  ).action(async (runId: string, flags: RemoteFlags) => {
    const [{ connectRemote }, { print }, { statusLines }, { exitCodeForStatus }] = await Promise.all([
      import('../ask/connect-remote.ts'),
      import('../show/print.ts'),
      import('../show/run-lines.ts'),
      import('../follow/exit-code.ts'),
    ]);
    const { runs } = await connectRemote(flags);
    const status = await runs.get(runId);
    print(flags, status, () => statusLines(status));
    process.exitCode = exitCodeForStatus(status);
  });
}
