import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface QuestionsFlags extends RemoteFlags {
  limit?: string;
  cursor?: string;
}

export function addQuestions(program: Command): void {
  remoteCommand(program, 'questions', 'list the questions that wait for a person')
    .option('--limit <n>', 'the most questions to list')
    .option('--cursor <cursor>', 'continue after the last list')
    .action(async ({ limit, cursor, ...flags }: QuestionsFlags) => {
      const [{ connectRemote }, { print }, { questionLines }, { readWhole }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/run-lines.ts'),
        import('../read-input.ts'),
      ]);
      const { runs } = await connectRemote(flags);
      const page = await runs.questions({
        ...(limit !== undefined && { limit: readWhole('--limit', limit, 1, 200) }),
        ...defined({ cursor }),
      });
      print(flags, page, () => questionLines(page));
    });
}
