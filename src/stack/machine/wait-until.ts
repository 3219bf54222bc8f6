import type { ProcessGroup } from './process-group.ts';

const POLL_MS = 20;

/** Asks until the answer is yes. Says `exited` as soon as the process that should answer has ended. */
export async function waitUntilAnswering(
  group: ProcessGroup,
  ask: () => Promise<boolean>,
  timeoutMs: number,
): Promise<'answering' | 'exited' | 'timeout'> {
  const deadline = Date.now() + timeoutMs;
  while (!group.gone) {
    // Asked while it runs and still running afterwards: the answer is its own, not that of another program on the port.
    if ((await ask()) && !group.gone) return 'answering';
    if (Date.now() > deadline) return 'timeout';
    await Promise.race([new Promise((resolve) => setTimeout(resolve, POLL_MS)), group.exited]);
  }
  return 'exited';
}
