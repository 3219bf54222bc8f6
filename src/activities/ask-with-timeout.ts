import type { Redact } from '../core/redaction/redact.ts';
import { salientLine } from '../core/failures/salient-line.ts';
import { classifyError } from '../core/retry/classify-error.ts';
import { readErrorFacts } from '../core/retry/read-error-facts.ts';
import { CAP } from '../protocol/caps.ts';
import type { CallCancelled, CallFailed } from '../protocol/tools.ts';
import { catchStrayErrors } from './stray-errors.ts';

/**
 * The environment of a planner's turn or a review. It has no Temporal types, so that the simulator can use the
 * same code.
 */
export interface AskEnvironment {
  redact: Redact;
  now: () => number;
  stopped: () => 'cancelled' | 'shutdown' | null;
  signal: AbortSignal;
}

/**
 * Calls code that does not take an abort signal. If the work has to stop or the timeout passes, this function returns
 * without waiting any longer, and a late answer is ignored. An error that the code throws is returned as a failed
 * outcome.
 */
export async function askWithTimeout<T>(
  ask: () => Promise<T> | T,
  timeoutMs: number,
  env: AskEnvironment,
): Promise<{ class: 'ok'; value: T; duration_ms: number } | CallFailed | CallCancelled> {
  const startedAt = env.now();
  const over = new AbortController();
  try {
    const value = await Promise.race([
      catchStrayErrors(ask),
      rejectOnAbort(env.signal, over.signal),
      rejectAfter(timeoutMs, over.signal),
    ]);
    return { class: 'ok', value, duration_ms: env.now() - startedAt };
  } catch (error) {
    const duration_ms = env.now() - startedAt;
    if (env.stopped() === 'cancelled') return { class: 'cancelled', duration_ms };
    if (env.stopped() === 'shutdown') return { ...WORKER_SHUTDOWN_FAILURE, duration_ms };
    const facts = readErrorFacts(error);
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

/** Used when a worker shuts down, so that a deploy is not reported as a failure of the user's code. */
export const WORKER_SHUTDOWN_FAILURE = {
  class: 'failed',
  certainty: 'unknown',
  origin: 'infrastructure',
  category: 'worker_lost',
  error_code: 'WORKER_SHUTDOWN',
  message_preview: 'the worker shut down during the call',
  duration_ms: 0,
} as const;

const rejectOnAbort = (signal: AbortSignal, over: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: over });
  });

const rejectAfter = (ms: number, over: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const late = (): void => reject(Object.assign(new Error(`gave no answer within ${ms} ms`), { timed_out: true }));
    const timer = setTimeout(late, ms);
    over.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
