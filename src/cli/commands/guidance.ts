import type { Command } from 'commander';
import type { Runs } from '../../client/secondwind-client.ts';
import type { ShownGuidance } from '../../client/views.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface GuidanceFlags extends RemoteFlags {
  step?: string;
  attempt?: string;
}

const MOST = 999_999_999;

export function addGuidance(program: Command): void {
  remoteCommand(program, 'guidance <run_id>', 'show the exact guidance that an attempt was shown')
    .option('--step <n>', 'the step (default: the latest that was shown any)')
    .option('--attempt <n>', 'the attempt (default: the latest that was shown any)')
    .action(async (runId: string, flags: GuidanceFlags) => {
      const [{ connectRemote }, { print }, { safeLines }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const shown = await findGuidance(runs, runId, flags);
      // A program gets the exact text; for a terminal, control characters are removed.
      print(flags, shown, () => [process.stdout.isTTY ? safeLines(shown.guidance) : shown.guidance]);
    });
}

/** Tries the steps from the last to the first, because only attempts after a failure are shown guidance. */
async function findGuidance(runs: Runs, runId: string, { step, attempt }: GuidanceFlags): Promise<ShownGuidance> {
  const { readWhole } = await import('../read-input.ts');
  const named = attempt === undefined ? {} : { attempt: readWhole('--attempt', attempt, 1, MOST) };
  const at = (stepId: number) => runs.guidance(runId, { stepId, ...named });
  if (step !== undefined) return at(readWhole('--step', step, 0, MOST));
  const retried = (await runs.steps(runId)).filter(({ attempts }) => attempts.length > 1).map(({ step_id }) => step_id);
  for (const stepId of retried.toReversed()) {
    try {
      return await at(stepId);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'no_guidance')) throw error;
    }
  }
  return at(retried.at(-1) ?? 1);
}
