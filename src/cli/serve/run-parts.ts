import { EXIT } from '../report-error.ts';
import { startServing } from '../serving.ts';
import { Parts } from './parts.ts';
import { onSignals } from './signals.ts';

/** A service has ended by itself. */
export interface Failure {
  error: unknown;
}

export interface RunPartsOptions {
  say: (line: string) => void;
  /** Starts the services and adds each to `parts` as soon as it has to be stopped. `failed` resolves if one of them fails. */
  start(parts: Parts): Promise<{ failed: Promise<Failure> }>;
  report: (error: unknown) => number;
}

/**
 * Runs a long command: starts its services, waits for a signal or a failure, and stops them in order. The first Ctrl-C stops in
 * order, the second skips what is still stopping, and the third exits at once; the keeper then notices the closed pipe and stops the
 * stack.
 */
export async function runParts(options: RunPartsOptions): Promise<number> {
  const { say } = options;
  startServing();
  const parts = new Parts(say);
  const hurry = new AbortController();
  const asked = new Promise<'asked'>((resolve) => {
    onSignals((times) => {
      if (times === 1) resolve('asked');
      else if (times === 2) hurry.abort();
      else process.exit(EXIT.failed);
      if (times === 2) say('Skipping what is still stopping.');
    });
  });
  const begun = options.start(parts);
  let code: number = EXIT.ok;
  try {
    const started = await Promise.race([asked, begun]);
    // A signal came during the start. Services that were added are stopped; the others end with this process.
    if (started === 'asked') {
      say('Stopping before everything has started.');
      code = EXIT.failed;
    } else {
      const end = await Promise.race([asked, started.failed]);
      if (end !== 'asked') code = options.report(end.error);
    }
  } catch (error) {
    code = options.report(error);
  }
  begun.catch(() => {});
  if (code === EXIT.ok) say('Stopping. Press Ctrl-C again to skip what takes long.');
  await parts.stop(hurry.signal);
  return code;
}
