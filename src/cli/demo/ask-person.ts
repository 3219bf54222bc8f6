import { createInterface } from 'node:readline';
import type { Decision } from '../../protocol/questions.ts';

/** Returns the decision that a person types in time. Without a terminal, or after the time, returns the demo's own answer. */
export async function askPerson(
  options: Decision[],
  fallback: Decision,
  waitMs: number,
): Promise<{ decision: Decision; by: string }> {
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

function readDecision(options: Decision[]): { decision: Promise<Decision>; close: () => void } {
  const lines = createInterface({ input: process.stdin });
  const decision = new Promise<Decision>((resolve) => {
    lines.on('line', (line) => {
      const chosen = options.find((option) => option === line.trim());
      if (chosen !== undefined) resolve(chosen);
    });
  });
  return { decision, close: () => lines.close() };
}
