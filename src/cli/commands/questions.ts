import type { Command } from 'commander';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

interface QuestionsFlags extends RemoteFlags {
  limit?: string;
  cursor?: string;
}

export function addQuestions(program: Command): void {
  remoteCommand(program, 'questions', 'what waits for a person')
    .option('--limit <n>', 'so many at most')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .action(async ({ limit, cursor, ...flags }: QuestionsFlags) => {
      const [{ connectRemote }, { print }, { questionLines }, { readWhole }] = await Promise.all([
        import('../ask/connect.ts'),
        import('../show/print.ts'),
        import('../show/runs.ts'),
        import('../read-input.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const page = await runs.questions({
        ...(limit !== undefined && { limit: readWhole('--limit', limit, 1, 200) }),
        ...(cursor !== undefined && { cursor }),
      });
      print(flags, page, () => questionLines(page));
    });
}
