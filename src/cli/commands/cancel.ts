import type { Command } from 'commander';
import { personOf, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

export function addCancel(program: Command): void {
  withPerson(remoteCommand(program, 'cancel <run_id>', 'stop a run, and wait until its work has really stopped'))
    .option('--reason <text>', 'why')
    .action(async (runId: string, flags: RemoteFlags & { by?: string; reason?: string }) => {
      const [{ connectRemote }, { print }, { oneLine }] = await Promise.all([
        import('../ask/connect.ts'),
        import('../show/print.ts'),
        import('../show/text.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const { reason } = flags;
      const stopped = await runs.cancel(runId, { by: personOf(flags), ...(reason !== undefined && { reason }) });
      print(flags, stopped, () => [
        stopped.state === 'ended'
          ? oneLine(stopped.status.why)
          : `It is stopping; still under way: ${oneLine(stopped.waiting_for.join('; ')) || 'nothing that is known'}.`,
      ]);
    });
}
