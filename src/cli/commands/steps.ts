import type { Command } from 'commander';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addSteps(program: Command): void {
  remoteCommand(
    program,
    'steps <run_id>',
    'list the steps of a run, with the input and output of each tool call',
  ).action(async (runId: string, flags: RemoteFlags) => {
    const [{ connectRemote }, { print }, { stepLines }, { terminalWidth }] = await Promise.all([
      import('../ask/connect-remote.ts'),
      import('../show/print.ts'),
      import('../show/step-lines.ts'),
      import('../show/table.ts'),
    ]);
    const { runs } = await connectRemote(flags);
    const steps = await runs.steps(runId);
    print(flags, { steps }, () => stepLines(runId, steps, terminalWidth()));
  });
}
