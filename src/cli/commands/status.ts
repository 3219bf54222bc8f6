import type { Command } from 'commander';
import { remoteCommand } from '../remote/command.ts';
import type { RemoteFlags } from '../remote/connect.ts';

export function addStatus(program: Command): void {
  remoteCommand(program, 'status <run_id>', 'how a run stands, and why; the exit code says it too').action(
    async (runId: string, flags: RemoteFlags) => {
      const [{ connectRemote }, { print }, { statusLines }, { exitCodeOfStatus }] = await Promise.all([
        import('../remote/connect.ts'),
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
