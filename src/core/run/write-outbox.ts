import { CAP } from '../../protocol/caps.ts';
import { dropWritten, leaveInHistory, nothingToWrite, collectWaiting } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import type { RunState } from './state.ts';

/**
 * Writes the outbox during the backoff, so that an unavailable store never delays a retry. Every item has a derived id,
 * so a repeated write stores it once.
 */
export interface OutboxWriter {
  /** Starts a write of the outbox, with the outputs if asked. The caller does not wait for it. */
  start(withOutputs?: boolean): void;
  /** Starts a write as soon as the one under way has ended, for what has to be in the store soon. The caller does not wait. */
  startNext(): void;
  /** Waits for the write under way, so that none is left when the run ends or hands over. What waits then fits into one write. */
  settle(): Promise<void>;
  /** Writes the outbox with its outputs to make room in the state. Returns whether the store has them. */
  saveOutputs(): Promise<boolean>;
}

export function openOutboxWriter(state: RunState, ports: RunPorts): OutboxWriter {
  let underWay: Promise<boolean> | null = null;
  let isWanted = false;
  let bug: { error: unknown } | null = null;

  const write = async (withOutputs: boolean): Promise<boolean> => {
    const batch = collectWaiting(state, withOutputs);
    const inHistory = state.outbox.in_history;
    const outcome = await ports.record(batch);
    if (!outcome.saved) {
      if (outcome.kept === true) return false;
      ports.log({ event: 'record_not_saved', reason: outcome.reason, records: batch.records.length });
      leaveInHistory(state, batch);
      return false;
    }
    dropWritten(state, batch, inHistory);
    return true;
  };
  const settle = async (): Promise<void> => {
    const running = underWay;
    if (running !== null) {
      await running;
      return settle();
    }
    if (bug !== null) throw bug.error;
    if (state.outbox.unsaved.length <= CAP.outboxRecords) return;
    await begin(false);
    return settle();
  };
  const begin = (withOutputs: boolean): Promise<boolean> => {
    const running = write(withOutputs).finally(() => {
      underWay = null;
      if (!isWanted) return;
      // Started here, before anybody who waits for this write goes on, so that settle() waits for the next one too.
      isWanted = false;
      start();
    });
    underWay = running;
    return running;
  };

  const start = (withOutputs = false): void => {
    if (underWay !== null || (nothingToWrite(state) && !withOutputs)) return;
    // This write is not awaited, so an error in it is kept for settle(), which every ending awaits.
    begin(withOutputs).catch((error: unknown) => {
      bug = { error };
    });
  };

  return {
    start,
    startNext() {
      isWanted = underWay !== null;
      start();
    },
    settle,
    async saveOutputs() {
      await settle();
      return begin(true);
    },
  };
}
