import type { Redact } from '../core/redaction/redact.ts';
import { salientLine } from '../core/failures/salient-line.ts';
import { classifyError } from '../core/retry/classify-error.ts';
import { factsOfError } from '../core/retry/facts-of-error.ts';
import { CAP } from '../protocol/caps.ts';
import type { CallCancelled, CallFailed } from '../protocol/tools.ts';

/** What a planner's turn or a review has around it. No Temporal in here: the simulator asks the same way. */
export interface TurnEnvironment {
  redact: Redact;
  now: () => number;
  stopped: () => 'cancelled' | 'shutdown' | null;
  signal: AbortSignal;
}

/**
 * Asks code that knows no signal. When the work has to stop, or its time is up, it is left behind: its late answer is not
 * waited for. What it threw is told as a value.
 */
export async function askOrLeave<T>(
  ask: () => Promise<T> | T,
  timeoutMs: number,
  env: TurnEnvironment,
): Promise<{ class: 'ok'; value: T; duration_ms: number } | CallFailed | CallCancelled> {
  const startedAt = env.now();
  const over = new AbortController();
  try {
    const value = await Promise.race([
      ask(),
      rejectedBy(env.signal, over.signal),
      rejectedAfter(timeoutMs, over.signal),
    ]);
    return { class: 'ok', value, duration_ms: env.now() - startedAt };
  } catch (error) {
    const duration_ms = env.now() - startedAt;
    if (env.stopped() === 'cancelled') return { class: 'cancelled', duration_ms };
    if (env.stopped() === 'shutdown') return { ...WORKER_HAD_TO_STOP, duration_ms };
    const facts = factsOfError(error);
    return {
      class: 'failed',
      origin: 'tool',
      ...classifyError(facts, env.now()),
      message_preview: env.redact(salientLine(facts.message ?? '')).slice(0, CAP.messagePreviewChars),
      duration_ms,
    };
  } finally {
    over.abort();
  }
}

/** A deploy must not look like code that fails. */
export const WORKER_HAD_TO_STOP = {
  class: 'failed',
  certainty: 'unknown',
  origin: 'infrastructure',
  category: 'worker_lost',
  error_code: 'WORKER_SHUTDOWN',
  message_preview: 'the worker had to stop in the middle of it',
  duration_ms: 0,
} as const;

const rejectedBy = (signal: AbortSignal, over: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: over });
  });

const rejectedAfter = (ms: number, over: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const late = (): void => reject(Object.assign(new Error(`gave no answer within ${ms} ms`), { timed_out: true }));
    const timer = setTimeout(late, ms);
    over.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
