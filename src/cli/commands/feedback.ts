import type { Command } from 'commander';
import { personOf, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

export function addFeedback(program: Command): void {
  withPerson(remoteCommand(program, 'feedback <run_id> <text>', 'tell a run what you think of it')).action(
    async (runId: string, text: string, flags: RemoteFlags & { by?: string }) => {
      const [{ connectRemote }, { print }] = await Promise.all([
        import('../ask/connect.ts'),
        import('../show/print.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const taken = await runs.feedback(runId, { text, by: personOf(flags) });
      const { feedback_type: type, confidence, effect } = taken;
      print(flags, taken, () => [
        type === null ? `No kind of feedback was found in it: ${effect}` : `${type} (${confidence}): ${effect}`,
      ]);
    },
  );
}
