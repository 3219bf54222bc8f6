import type { Command } from 'commander';
import { SecondwindError } from '../../protocol/errors.ts';
import { personOf, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

interface OverrideFlags extends RemoteFlags {
  fatigue?: boolean;
  maxReruns?: boolean;
  by?: string;
  reason?: string;
}

export function addOverride(program: Command): void {
  withPerson(remoteCommand(program, 'override <run_id>', 'let one more pass start where a guard would end the run'))
    .option('--max-reruns', 'past the limit of passes')
    .option('--fatigue', 'past the limit of fatigue')
    .option('--reason <text>', 'why')
    .action(async (runId: string, flags: OverrideFlags) => {
      const { fatigue = false, maxReruns = false, reason } = flags;
      if (!fatigue && !maxReruns) {
        throw new SecondwindError('bad_usage', 'Nothing is named to override.', 'Add --max-reruns, --fatigue or both.');
      }
      const [{ connectRemote }, { print }] = await Promise.all([
        import('../ask/connect.ts'),
        import('../show/print.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const answer = await runs.override(runId, {
        ...(fatigue && { override_fatigue: true }),
        ...(maxReruns && { override_max_reruns: true }),
        override_by: personOf(flags),
        ...(reason !== undefined && { override_reason: reason }),
      });
      print(flags, answer, () => [
        answer.status === 'success'
          ? 'Taken: it waits until its limit would end the run, and then lets one more pass start.'
          : 'One was waiting already; nothing has changed.',
      ]);
    });
}
