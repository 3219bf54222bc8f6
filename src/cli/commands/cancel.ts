import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addCancel(program: Command): void {
  withPerson(remoteCommand(program, 'cancel <run_id>', 'cancel a run and wait until its work has stopped'))
    .option('--reason <text>', 'the reason to record')
    .action(async (runId: string, flags: RemoteFlags & { by?: string; reason?: string }) => {
      const [{ connectRemote }, { print }, { oneLine }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const { reason } = flags;
      const stopped = await runs.cancel(runId, { by: readPerson(flags), ...defined({ reason }) });
      print(flags, stopped, () => [
        stopped.state === 'ended'
          ? oneLine(stopped.status.why)
          : `The run is stopping. Still running: ${oneLine(stopped.waiting_for.join('; ')) || 'unknown'}.`,
      ]);
    });
}
