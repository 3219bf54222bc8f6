import type { ProcessGroup } from './process-group.ts';

const POLL_MS = 20;

/** Polls until the answer is yes. Returns `exited` as soon as the process that should answer has ended. */
export async function waitUntilAnswering(
  group: ProcessGroup,
  ask: () => Promise<boolean>,
  timeoutMs: number,
): Promise<'answering' | 'exited' | 'timeout'> {
  const deadline = Date.now() + timeoutMs;
  while (!group.gone) {
    // The process was running before and after the question, so the answer is its own and not another program's.
    if ((await ask()) && !group.gone) return 'answering';
    if (Date.now() > deadline) return 'timeout';
    await Promise.race([new Promise((resolve) => setTimeout(resolve, POLL_MS)), group.exited]);
  }
  return 'exited';
}
