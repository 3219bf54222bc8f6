import type { RunStatus } from '../../protocol/run.ts';
import type { StatusReading } from './run-status.ts';

type Ask = (runId: string) => Promise<StatusReading>;

/** The size of the cache of ended runs: some thousands of ordinary statuses. */
const KEPT_CHARS = 8_000_000;

/**
 * Reads statuses and avoids repeated queries. The status of an ended run never changes, but every query makes a worker read its whole
 * history, so it is cached. An open run is queried once at a time, however many callers wait.
 */
export function createStatusReader(ask: Ask, keptChars: number = KEPT_CHARS) {
  const kept = createCache(keptChars);
  const askTogether = shareQueries(ask);
  return async (runId: string): Promise<RunStatus> => {
    const known = kept.get(runId);
    if (known !== undefined) return known;
    const { status, byRun } = await askTogether(runId);
    if (byRun && status.state === 'ended') kept.put(runId, status);
    return status;
  };
}

/**
 * Callers that arrive during a query share the next one and not the running one, because its answer may be older than what they
 * have already seen.
 */
function shareQueries(ask: Ask): Ask {
  interface Turn {
    now: Promise<StatusReading>;
    next?: Promise<StatusReading>;
  }
  const turns = new Map<string, Turn>();
  const begin: Ask = (runId) => {
    const turn: Turn = { now: ask(runId) };
    turns.set(runId, turn);
    const over = (): void => {
      if (turn.next === undefined) turns.delete(runId);
    };
    turn.now.then(over, over);
    return turn.now;
  };
  return (runId) => {
    const turn = turns.get(runId);
    if (turn === undefined) return begin(runId);
    const afterwards = (): Promise<StatusReading> => begin(runId);
    turn.next ??= turn.now.then(afterwards, afterwards);
    return turn.next;
  };
}

/** A cache that keeps the most recently used statuses, up to a total size. */
function createCache(chars: number) {
  const kept = new Map<string, { status: RunStatus; size: number }>();
  let total = 0;
  const drop = (runId: string): void => {
    total -= kept.get(runId)?.size ?? 0;
    kept.delete(runId);
  };
  return {
    get(runId: string): RunStatus | undefined {
      const found = kept.get(runId);
      if (found === undefined) return undefined;
      kept.delete(runId);
      kept.set(runId, found);
      return found.status;
    },
    put(runId: string, status: RunStatus): void {
      drop(runId);
      const size = JSON.stringify(status).length;
      kept.set(runId, { status, size });
      total += size;
      for (const oldest of kept.keys()) {
        if (total <= chars) break;
        drop(oldest);
      }
    },
  };
}
