import type { Command } from 'commander';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addFeedback(program: Command): void {
  withPerson(remoteCommand(program, 'feedback <run_id> <text>', 'send feedback to a run')).action(
    async (runId: string, text: string, flags: RemoteFlags & { by?: string }) => {
      const [{ connectRemote }, { print }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const taken = await runs.feedback(runId, { text, by: readPerson(flags) });
      const { feedback_type: type, confidence, effect } = taken;
      print(flags, taken, () => [
        type === null ? `No type of feedback was detected: ${effect}` : `${type} (${confidence}): ${effect}`,
      ]);
    },
  );
}
