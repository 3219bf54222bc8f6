import { defined } from '../../protocol/json.ts';
import { Argument, type Command } from 'commander';
import type { Runs } from '../../client/secondwind-client.ts';
import { type Decision, DECISIONS, type PendingQuestion } from '../../protocol/questions.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface AnswerFlags extends RemoteFlags {
  question?: string;
  text?: string;
  output?: string;
  input?: string;
  by?: string;
}

export function addAnswer(program: Command): void {
  withPerson(remoteCommand(program, 'answer <run_id>', 'answer the open question of a run, or show it'))
    .addArgument(new Argument('[decision]', 'one of the options; without it the question is shown').choices(DECISIONS))
    .option('--question <id>', 'the id of the question (default: the open one)')
    .option('--text <text>', 'what to do instead, required for `correct`; with any other decision, a note')
    .option('--input <json>', 'with `approve`: the whole input to run the call with instead, as JSON or @file')
    .option('--output <json>', 'with `done`: the output of the call, as JSON or @file')
    .action(async (runId: string, decision: Decision | undefined, flags: AnswerFlags) => {
      const [{ connectRemote }, { print }, { EXIT }, { readJson }, { READABLE_WIDTH, terminalWidth }, show] =
        await Promise.all([
          import('../ask/connect-remote.ts'),
          import('../show/print.ts'),
          import('../report-error.ts'),
          import('../read-input.ts'),
          import('../show/table.ts'),
          import('../show/question-lines.ts'),
        ]);
      const { runs } = await connectRemote(flags);
      if (decision === undefined) {
        const question = await openQuestion(runs, runId);
        return print(flags, question, () => show.questionBlock(runId, question, terminalWidth() ?? READABLE_WIDTH));
      }
      const { text } = flags;
      const output = flags.output === undefined ? undefined : await readJson(flags.output);
      const input = flags.input === undefined ? undefined : await readJson(flags.input);
      const question_id = flags.question ?? (await openQuestion(runs, runId)).question_id;
      const body = { question_id, decision, by: readPerson(flags), ...defined({ text, output, input }) };
      const taken = await runs.answer(runId, body);
      const told = taken.accepted
        ? `Accepted: ${decision}. The run is ${taken.state}.`
        : `Not accepted: ${taken.reason}.`;
      print(flags, taken, () => [told, ...show.changeLines(taken.changes ?? [], terminalWidth() ?? READABLE_WIDTH)]);
      if (!taken.accepted) process.exitCode = EXIT.failed;
    });
}

async function openQuestion(runs: Runs, runId: string): Promise<PendingQuestion> {
  const { pending_question: open, state } = await runs.get(runId);
  if (open !== undefined) return open;
  const { SecondwindError } = await import('../../protocol/errors.ts');
  throw new SecondwindError(
    'no_question',
    `The run ${runId} has no open question: it is ${state}.`,
    'List the open questions: secondwind questions',
  );
}
