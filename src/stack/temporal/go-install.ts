import { join } from 'node:path';
import { runCommand } from '../machine/run-command.ts';
import { TEMPORAL_CLI_VERSION } from './cli-version.ts';

const PACKAGE = `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_CLI_VERSION}`;
const REPORT_EVERY_MS = 60_000;
const BUILD_LIMIT_MS = 30 * 60_000;

export async function hasGo(env: NodeJS.ProcessEnv): Promise<boolean> {
  return (await runCommand('go', ['version'], { env, timeoutMs: 20_000 })).ok;
}

/**
 * Builds the command line from source. It is slow (about 4 minutes on 2 cores), but needs only Go and its module proxy.
 */
export async function goInstallCli(
  folder: string,
  env: NodeJS.ProcessEnv,
  progress: (line: string) => void,
): Promise<string> {
  const started = Date.now();
  progress('Temporal: building it with Go; this takes about 4 minutes and happens once');
  const timer = setInterval(() => {
    progress(`Temporal: still building, ${Math.round((Date.now() - started) / 60_000)} min`);
  }, REPORT_EVERY_MS);
  try {
    // Go's temporary files go into our folder too, so that we can remove them after a kill. The user's
    // GOFLAGS=-mod=vendor or a go.work file beside us must not affect the build of another program.
    const buildEnv = { ...env, GOBIN: folder, GOTMPDIR: folder, GOFLAGS: '', GOWORK: 'off' };
    const result = await runCommand('go', ['install', PACKAGE], {
      cwd: folder,
      env: buildEnv,
      timeoutMs: BUILD_LIMIT_MS,
    });
    if (!result.ok) throw new Error(result.output || 'go install failed');
    return join(folder, 'temporal');
  } finally {
    clearInterval(timer);
  }
}
