import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import type { Runs } from '../../client/secondwind-client.ts';
import type { TranscriptMessage } from '../../client/views.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addTranscript(program: Command): void {
  remoteCommand(program, 'transcript <run_id>', 'show the conversation of a run with its model, as it was sent').action(
    async (runId: string, flags: RemoteFlags) => {
      const [{ connectRemote }, { print }, { transcriptLines }, { terminalWidth }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/transcript-lines.ts'),
        import('../show/table.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const transcript = await readAll(runs, runId);
      print(flags, { transcript }, () => transcriptLines(runId, transcript, terminalWidth()));
    },
  );
}

async function readAll(runs: Runs, runId: string): Promise<TranscriptMessage[]> {
  const all: TranscriptMessage[] = [];
  let cursor: string | null = null;
  do {
    const page = await runs.transcript(runId, { limit: 200, ...defined({ cursor: cursor ?? undefined }) });
    all.push(...page.transcript);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}
