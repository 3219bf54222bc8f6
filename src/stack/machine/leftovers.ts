import type { ProcessIdentity } from './process-identity.ts';
import { isRunning } from './process-identity.ts';
import { processesWithArgument } from './process-list.ts';

const POLL_MS = 25;
const GENTLE_MS = 3_000;

/**
 * Ends what still works on one of our files or folders because its keeper was killed. Found by the path on its command
 * line, held by pid and start time, and checked again before every signal: a stranger with the same pid is never hit.
 * Such a process is ended and started again, never adopted: nobody knows with which settings it runs.
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
    // It has ended in between.
  }
}

/** Not our child, so no event tells of its end: it has to be looked at. */
async function endsWithin(target: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isRunning(target)) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
