import type { ProcessIdentity } from './process-identity.ts';
import { isRunning } from './process-identity.ts';
import { processesWithArgument } from './process-list.ts';

const POLL_MS = 25;
const GENTLE_MS = 3_000;

/**
 * Ends processes that still use one of our files or folders because their keeper was killed. They are found by the path
 * on their command line and identified by pid and start time, which is checked again before every signal, so that
 * another process with the same pid is never hit. They are ended instead of reused, because their settings are unknown.
 */
export async function stopLeftovers(path: string): Promise<number[]> {
  const found = processesWithArgument(path);
  await Promise.all(found.map(stopOne));
  return found.map(({ pid }) => pid);
}

async function stopOne(process: ProcessIdentity): Promise<void> {
  // SIGINT is Postgres' fast shutdown and Temporal's Ctrl-C.
  signal(process, 'SIGINT');
  if (await endsWithin(process, GENTLE_MS)) return;
  signal(process, 'SIGKILL');
  await endsWithin(process, GENTLE_MS);
}

function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isRunning(target)) return;
  try {
    process.kill(target.pid, name);
  } catch {
    // The process has ended in the meantime.
  }
}

/** Polls, because the process is not our child and so no event reports its end. */
async function endsWithin(target: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isRunning(target)) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
