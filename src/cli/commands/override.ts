import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import { SecondwindError } from '../../protocol/errors.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface OverrideFlags extends RemoteFlags {
  fatigue?: boolean;
  maxReruns?: boolean;
  by?: string;
  reason?: string;
}

export function addOverride(program: Command): void {
  withPerson(remoteCommand(program, 'override <run_id>', 'allow one more pass where the guardrails would end the run'))
    .option('--max-reruns', 'override the limit of reruns')
    .option('--fatigue', 'override the limit of fatigue')
    .option('--reason <text>', 'the reason to record')
    .action(async (runId: string, flags: OverrideFlags) => {
      const { fatigue = false, maxReruns = false, reason } = flags;
      if (!fatigue && !maxReruns) {
        throw new SecondwindError(
          'bad_usage',
          'No limit to override is named.',
          'Add --max-reruns, --fatigue or both.',
        );
      }
      const [{ connectRemote }, { print }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const answer = await runs.override(runId, {
        ...(fatigue && { override_fatigue: true }),
        ...(maxReruns && { override_max_reruns: true }),
        override_by: readPerson(flags),
        ...defined({ override_reason: reason }),
      });
      print(flags, answer, () => [
        answer.status === 'success'
          ? 'Accepted. When the limit would end the run, one more pass starts instead.'
          : 'An override was waiting already. Nothing has changed.',
      ]);
    });
}
