import { runCommand } from '../machine/run-command.ts';

/** The latest version that `go install` can build; later ones have a local replace in their go.mod. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';

/**
 * Checks that the program is Temporal's: any program can be named `temporal`, and an incomplete download does not run.
 */
export async function isTemporalCli(path: string): Promise<boolean> {
  const { ok, output } = await runCommand(path, ['--version'], { timeoutMs: 20_000 });
  return ok && output.includes('temporal version');
}
