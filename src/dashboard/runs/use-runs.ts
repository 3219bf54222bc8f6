import { useCallback, useEffect, useRef, useState } from 'react';
import type { ListedRun, RunFilter } from '../../client/views.ts';
import { useAllEvents } from '../shell/all-events.tsx';
import type { StreamedEvent } from '../shell/follow-events.ts';
import { isSignedOut, useSession } from '../shell/session.ts';
import { startedRun, withEvent } from './live-runs.ts';
import { fitsFilter } from './run-filter.ts';

const PAGE = 200;

export interface RunList {
  runs: ListedRun[];
  /** Runs that started since the list was loaded; they are added when the person asks, or at once at the top of the page. */
  arrived: ListedRun[];
  showArrived: () => void;
  isLoading: boolean;
  /** True when every run was loaded. */
  isComplete: boolean;
  isBroken: boolean;
  error: unknown;
  loadMore: () => void;
  reload: () => void;
}

interface Loaded {
  /** The filter that the runs fit. While another one is asked for, they stay, so that the page does not flicker. */
  key: string;
  runs: ListedRun[];
  cursor: string | null;
  isComplete: boolean;
}
const NOTHING: Loaded = { key: '', runs: [], cursor: null, isComplete: false };

/** The list of runs with a filter: loads page by page, and follows the events of all runs. */
export function useRuns(filter: RunFilter): RunList {
  const { client, leave } = useSession();
  const key = JSON.stringify(filter);
  const [loaded, setLoaded] = useState<Loaded>(NOTHING);
  const [arrived, setArrived] = useState<ListedRun[]>([]);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
  const asking = useRef<AbortController | null>(null);

  const load = useCallback(
    async (cursor: string | null, before: ListedRun[]) => {
      asking.current?.abort();
      const { signal } = (asking.current = new AbortController());
      setLoading(true);
      try {
        const wanted = JSON.parse(key) as RunFilter;
        const page = await client.runs.list({ ...wanted, limit: PAGE, ...(cursor !== null && { cursor }) }, { signal });
        const known = new Set(before.map((run) => run.run_id));
        const runs = [...before, ...page.runs.filter((run) => !known.has(run.run_id))];
        setLoaded({ key, runs, cursor: page.next_cursor, isComplete: page.next_cursor === null });
        setError(undefined);
        setLoading(false);
      } catch (failed) {
        if (signal.aborted) return;
        if (isSignedOut(failed)) leave('The token is no longer valid.');
        setError(failed);
        setLoading(false);
      }
    },
    [client, key, leave],
  );
  useEffect(() => {
    setArrived([]);
    void load(null, []);
    return () => asking.current?.abort();
  }, [load, round]);

  const isBroken = useAllEvents((events) => {
    setLoaded((before) => ({ ...before, runs: changed(before.runs, events) }));
    setArrived((before) => changed([...newRuns(events, before), ...before], events));
  });

  const fresh = arrived.filter(
    (run) => fitsFilter(run, filter) && !loaded.runs.some((known) => known.run_id === run.run_id),
  );
  const isCurrent = loaded.key === key;
  const showArrived = (): void => {
    setLoaded((before) => ({ ...before, runs: [...fresh, ...before.runs] }));
    setArrived([]);
  };
  const loadMore = (): void => {
    if (!isLoading && error === undefined && isCurrent && loaded.cursor !== null) void load(loaded.cursor, loaded.runs);
  };
  return {
    runs: loaded.runs,
    arrived: isCurrent ? fresh : [],
    showArrived,
    isLoading,
    isComplete: isCurrent && loaded.isComplete,
    isBroken,
    error,
    loadMore,
    reload: () => setRound(round + 1),
  };
}

function newRuns(events: readonly StreamedEvent[], known: readonly ListedRun[]): ListedRun[] {
  const started = events.flatMap((event) => (event.event === 'run_started' ? [startedRun(event)] : []));
  return started.filter((run) => !known.some(({ run_id }) => run_id === run.run_id)).reverse();
}

/** Applies events to the runs that they belong to. A run keeps its place, so that nothing moves under the pointer. */
function changed(runs: ListedRun[], events: readonly StreamedEvent[]): ListedRun[] {
  const byRun = Map.groupBy(events, (event) => event.run_id);
  if (!runs.some((run) => byRun.has(run.run_id))) return runs;
  return runs.map((run) => (byRun.get(run.run_id) ?? []).reduce(withEvent, run));
}
