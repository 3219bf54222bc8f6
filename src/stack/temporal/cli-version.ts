import { runCommand } from '../machine/run-command.ts';

/** The newest version that `go install` can build: later ones have a local replace in their go.mod. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';

/** A program named `temporal` may be anything; a half-downloaded one does not run at all. */
export async function isTemporalCli(path: string): Promise<boolean> {
  const { ok, output } = await runCommand(path, ['--version'], { timeoutMs: 20_000 });
  return ok && output.includes('temporal version');
}
