import { createInterface } from 'node:readline';

/** Takes what a person types within the time; without a terminal, or in time's absence, the demo's own answer. */
export async function askPerson(
  options: string[],
  fallback: string,
  waitMs: number,
): Promise<{ decision: string; by: string }> {
  const typed = process.stdin.isTTY ? readDecision(options) : null;
  const timer = new AbortController();
  const late = new Promise<null>((resolve) => {
    const timeout = setTimeout(() => resolve(null), waitMs);
    timer.signal.addEventListener('abort', () => clearTimeout(timeout));
  });
  const decision = await Promise.race([late, ...(typed === null ? [] : [typed.decision])]);
  timer.abort();
  typed?.close();
  return decision === null ? { decision: fallback, by: 'demo' } : { decision, by: 'you' };
}

function readDecision(options: string[]): { decision: Promise<string>; close: () => void } {
  const lines = createInterface({ input: process.stdin });
  const decision = new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      const word = line.trim();
      if (options.includes(word)) resolve(word);
    });
  });
  return { decision, close: () => lines.close() };
}
