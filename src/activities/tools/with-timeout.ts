import { within } from '../../protocol/within.ts';

export type Timed<T> =
  | { kind: 'returned'; value: T }
  | { kind: 'threw'; error: unknown }
  /** `error` is what it threw when it was told to stop, if it still did in time. */
  | { kind: 'timed_out'; error?: unknown };

/** How long a tool may take to react to its signal before it is left behind: a command is first asked, then killed. */
const STOP_GRACE_MS = 3_000;

/**
 * Runs a tool within its time. When that is up, or the work has to stop, its signal is aborted and it gets a moment to
 * tidy up, so that a retry never meets the attempt before it. One that ignores its signal is left behind.
 */
export async function withTimeout<T>(
  outer: AbortSignal,
  ms: number,
  run: (signal: AbortSignal) => Promise<T> | T,
): Promise<Timed<T>> {
  const own = new AbortController();
  const over = new AbortController();
  const attempt = (async (): Promise<Timed<T>> => {
    try {
      return { kind: 'returned', value: await run(AbortSignal.any([outer, own.signal])) };
    } catch (error) {
      return { kind: 'threw', error };
    }
  })();
  const late = after(ms, over.signal).then(async (): Promise<Timed<T>> => {
    own.abort(new DOMException('The tool took too long', 'TimeoutError'));
    const end = await Promise.race([attempt, after(STOP_GRACE_MS, over.signal)]);
    return end?.kind === 'threw' ? { kind: 'timed_out', error: end.error } : { kind: 'timed_out' };
  });
  const stopped = aborted(outer, over.signal).then(async (): Promise<Timed<T>> => {
    await after(STOP_GRACE_MS, over.signal);
    return { kind: 'threw', error: outer.reason };
  });
  // Once the time is up it is too late, even for an answer that comes while the tool tidies up.
  const inTime = attempt.then((end) => (own.signal.aborted ? late : end));
  try {
    return await Promise.race([inTime, late, stopped]);
  } finally {
    over.abort();
  }
}

/** Resolves after the time, and never once the whole is over. */
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

/** What a helper says within its time; undefined when it takes longer or throws. Never in the way. */
export const orNothing = <T>(ms: number, ask: () => Promise<T> | T): Promise<T | undefined> =>
  within<T | undefined>(
    ms,
    async () => ask(),
    () => undefined,
  ).catch(() => undefined);
