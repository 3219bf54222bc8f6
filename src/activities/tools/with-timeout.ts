import { within } from '../../protocol/within.ts';
import { catchStrayErrors } from '../stray-errors.ts';

export type Timed<T> =
  | { kind: 'returned'; value: T }
  /** `running` is true if the work had to stop, and the tool has not stopped within the grace period. */
  | { kind: 'threw'; error: unknown; running?: true }
  /**
   * `error` is what the tool threw after its signal was aborted, if it did so within the grace period. `running` is true if
   * it did not end within that time, so that it may still act.
   */
  | { kind: 'timed_out'; error?: unknown; running?: true };

/** How long a tool may take to stop after its signal is aborted. A command is first asked to stop, then killed. */
const STOP_GRACE_MS = 3_000;

export interface Patience {
  /** How long to wait for a tool that goes on after its timeout. Default: the grace period of 3 s. */
  graceMs: number;
  /** Called when the tool has not stopped soon after its timeout, and is still waited for. */
  onLate(): void;
}

/**
 * Runs a tool with a timeout. When the time is up, or the work has to stop, its signal is aborted and the tool gets a
 * grace period to clean up, so that a retry does not overlap with this attempt. A tool that ignores its signal is not
 * waited for any longer.
 */
export async function withTimeout<T>(
  outer: AbortSignal,
  ms: number,
  run: (signal: AbortSignal) => Promise<T> | T,
  patience?: Patience,
): Promise<Timed<T>> {
  const own = new AbortController();
  const failed = new AbortController();
  const over = new AbortController();
  const attempt = (async (): Promise<Timed<T>> => {
    try {
      const value = await catchStrayErrors(() => run(AbortSignal.any([outer, own.signal, failed.signal])));
      return { kind: 'returned', value };
    } catch (error) {
      // After a stray error the tool itself may still be under way.
      failed.abort(error);
      return { kind: 'threw', error };
    }
  })();
  const late = after(ms, over.signal).then(async (): Promise<Timed<T>> => {
    own.abort(new DOMException('The tool took too long', 'TimeoutError'));
    let end = await Promise.race([attempt, after(STOP_GRACE_MS, over.signal)]);
    if (end === undefined && patience !== undefined) {
      patience.onLate();
      end = await Promise.race([attempt, after(patience.graceMs - STOP_GRACE_MS, over.signal)]);
    }
    if (end === undefined) return { kind: 'timed_out', running: true };
    return end.kind === 'threw' ? { kind: 'timed_out', error: end.error } : { kind: 'timed_out' };
  });
  const stopped = aborted(outer, over.signal).then(async (): Promise<Timed<T>> => {
    await after(STOP_GRACE_MS, over.signal);
    return { kind: 'threw', error: outer.reason, running: true };
  });
  // An answer after the timeout is ignored, even if it arrives during the grace period.
  const inTime = attempt.then((end) => (own.signal.aborted ? late : end));
  try {
    return await Promise.race([inTime, late, stopped]);
  } finally {
    over.abort();
  }
}

/** Resolves after the time, and never after `over` is aborted. */
const after = (ms: number, over: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined);
    over.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });

const aborted = (signal: AbortSignal, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });

/**
 * Calls a helper with a timeout. Returns undefined if the helper throws or takes too long, so that it never blocks a
 * call.
 */
export const tryWithin = <T>(ms: number, ask: () => Promise<T> | T): Promise<T | undefined> =>
  within<T | undefined>(
    ms,
    async () => ask(),
    () => undefined,
  ).catch(() => undefined);
