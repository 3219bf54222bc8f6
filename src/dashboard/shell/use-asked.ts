import { type DependencyList, useCallback, useEffect, useRef, useState } from 'react';
import { isSignedOut, useSession } from './session.ts';

export interface Asked<T> {
  /** The latest answer. It stays while a newer one is on its way, so that nothing jumps. */
  data: T | undefined;
  error: unknown;
  /** Asks again. */
  reload: () => void;
}

/** Asks the API when the page opens and when one of `about` changes. An answer that is no longer wanted is dropped. */
export function useAsked<T>(ask: (signal: AbortSignal) => Promise<T>, about: DependencyList): Asked<T> {
  const { leave } = useSession();
  const [answer, setAnswer] = useState<{ data: T | undefined; error: unknown }>({ data: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const leaving = new AbortController();
    const run = async (): Promise<void> => {
      try {
        const data = await latest.current(leaving.signal);
        if (!leaving.signal.aborted) setAnswer({ data, error: undefined });
      } catch (error) {
        if (leaving.signal.aborted) return;
        if (isSignedOut(error)) leave('The token is no longer valid.');
        else setAnswer((before) => ({ data: before.data, error }));
      }
    };
    void run();
    return () => leaving.abort();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the caller says what the question is about
  }, [...about, round, leave]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...answer, reload };
}
