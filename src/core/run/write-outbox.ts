import { forgetWritten, nothingToWrite, waitingBatch } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import type { RunState } from './state.ts';

/**
 * Writes what waits in the outbox beside the backoff, so that a store that is away never stops a retry. Every part has
 * a derived id, so writing it twice stores it once.
 */
export interface OutboxWriter {
  /** Starts to write what waits, and the outputs too when they need room. Nobody waits for it. */
  start(withOutputs?: boolean): void;
  /** Waits for the write under way, so that none is left when the run ends or hands over. */
  settle(): Promise<void>;
  /** Makes room by writing the outputs too. Returns whether the store has them. */
  saveOutputs(): Promise<boolean>;
}

export function openOutboxWriter(state: RunState, ports: RunPorts): OutboxWriter {
  let underWay: Promise<boolean> | null = null;
  let bug: { error: unknown } | null = null;

  const write = async (withOutputs: boolean): Promise<boolean> => {
    const batch = waitingBatch(state, withOutputs);
    const outcome = await ports.record(batch);
    if (!outcome.saved) {
      ports.log({ event: 'record_not_saved', reason: outcome.reason, records: batch.records.length });
      return false;
    }
    forgetWritten(state, batch);
    return true;
  };
  const settle = async (): Promise<void> => {
    const running = underWay;
    if (running !== null) {
      await running;
      return settle();
    }
    if (bug !== null) throw bug.error;
  };
  const begin = (withOutputs: boolean): Promise<boolean> => {
    const running = write(withOutputs).finally(() => {
      underWay = null;
    });
    underWay = running;
    return running;
  };

  return {
    start(withOutputs = false) {
      if (underWay !== null || (nothingToWrite(state) && !withOutputs)) return;
      // Nobody awaits this write, so a bug in it is kept for settle(), which every ending awaits.
      begin(withOutputs).catch((error: unknown) => {
        bug = { error };
      });
    },
    settle,
    async saveOutputs() {
      await settle();
      return begin(true);
    },
  };
}
