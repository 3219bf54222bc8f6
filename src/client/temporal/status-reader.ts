import type { RunStatus } from '../../protocol/run.ts';
import type { ToldStatus } from './run-status.ts';

type Ask = (runId: string) => Promise<ToldStatus>;

/** So much text of ended runs is kept at hand: some thousands of ordinary ones. */
const KEPT_CHARS = 8_000_000;

/**
 * Asks for statuses without asking twice for the same. A run that has ended says the same for ever, but every question
 * would have a worker read its whole history again. One that is open is asked once at a time, however many want to know.
 */
export function createStatusReader(ask: Ask, keptChars: number = KEPT_CHARS) {
  const kept = keepLatest(keptChars);
  const askTogether = together(ask);
  return async (runId: string): Promise<RunStatus> => {
    const known = kept.get(runId);
    if (known !== undefined) return known;
    const { status, byRun } = await askTogether(runId);
    if (byRun && status.state === 'ended') kept.put(runId, status);
    return status;
  };
}

/**
 * Whoever comes while a question is under way shares the next one, never that one: its answer may be older than what the
 * newcomer has just seen done.
 */
function together(ask: Ask): Ask {
  interface Turn {
    now: Promise<ToldStatus>;
    next?: Promise<ToldStatus>;
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
    const afterwards = (): Promise<ToldStatus> => begin(runId);
    turn.next ??= turn.now.then(afterwards, afterwards);
    return turn.next;
  };
}

/** Those that were asked for last, as much of them as fits. */
function keepLatest(chars: number) {
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
