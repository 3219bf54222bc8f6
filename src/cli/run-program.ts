import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { EXIT, reportError } from './report-error.ts';
import { isServing } from './serving.ts';

/** Runs the command of the arguments and returns its exit code. */
export async function runProgram(): Promise<number> {
  // A reader that closes the pipe early, such as `| head`, is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A stack or a worker goes on: its readers are elsewhere.
    if (!isServing()) process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
  });
  // Nothing can be said about a stderr that is gone.
  process.stderr.on('error', () => undefined);
  try {
    await createProgram().parseAsync();
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Commander has already printed what is wrong. `--help` and `--version` end here too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportError(error, { json: process.argv.includes('--json') });
  }
}
