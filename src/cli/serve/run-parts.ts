import { EXIT } from '../report-error.ts';
import { Parts } from './parts.ts';
import { onSignals } from './signals.ts';

/** Something that runs has ended by itself, which it never should. */
export interface Failure {
  error: unknown;
}

export interface RunPartsOptions {
  say: (line: string) => void;
  /** Starts the parts, adding each as soon as it has to be ended. `failed` resolves only when one of them fails. */
  start(parts: Parts): Promise<{ failed: Promise<Failure> }>;
  report: (error: unknown) => number;
}

/**
 * The life of a long command: start, stay until somebody asks for the end or a part fails, then end in order. The first
 * Ctrl-C ends in order, the second skips what is still ending, the third leaves at once; the keeper then sees its pipe
 * close and ends the stack by itself.
 */
export async function runParts(options: RunPartsOptions): Promise<number> {
  const { say } = options;
  const parts = new Parts(say);
  const hurry = new AbortController();
  const asked = new Promise<'asked'>((resolve) => {
    onSignals((times) => {
      if (times === 1) resolve('asked');
      else if (times === 2) hurry.abort();
      else process.exit(EXIT.failed);
      if (times === 2) say('Skipping what is still ending.');
    });
  });
  const begun = options.start(parts);
  let code: number = EXIT.ok;
  try {
    const started = await Promise.race([asked, begun]);
    // Asked to end before everything was there: whatever has been added so far is ended, the rest goes with us.
    if (started === 'asked') {
      say('Ending before everything was there.');
      code = EXIT.failed;
    } else {
      const end = await Promise.race([asked, started.failed]);
      if (end !== 'asked') code = options.report(end.error);
    }
  } catch (error) {
    code = options.report(error);
  }
  begun.catch(() => {});
  if (code === EXIT.ok) say('Ending in order. Ctrl-C again skips ahead.');
  await parts.stop(hurry.signal);
  return code;
}
