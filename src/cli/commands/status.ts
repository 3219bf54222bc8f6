import type { Command } from 'commander';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

export function addStatus(program: Command): void {
  remoteCommand(program, 'status <run_id>', 'how a run stands, and why; the exit code says it too').action(
    async (runId: string, flags: RemoteFlags) => {
      const [{ connectRemote }, { print }, { statusLines }, { exitCodeOfStatus }] = await Promise.all([
        import('../ask/connect.ts'),
        import('../show/print.ts'),
        import('../show/runs.ts'),
        import('../follow/exit-code.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const status = await runs.get(runId);
      print(flags, status, () => statusLines(status));
      process.exitCode = exitCodeOfStatus(status);
    },
  );
}
