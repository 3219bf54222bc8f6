import { setTimeout as sleep } from 'node:timers/promises';
import { CAP } from '../protocol/caps.ts';
import type { Json } from '../protocol/json.ts';
import { STORE_WAIT } from '../protocol/names.ts';
import { isRefusal } from './write-parts.ts';

/** What a wait needs from the activity that waits. */
export interface WaitingCall {
  signal: AbortSignal;
  stopped(): 'cancelled' | 'shutdown' | null;
  heartbeat(details?: Json): void;
}

/**
 * Asks the store, and asks again while it is unavailable. `purpose` completes the sentence "Waiting for the store to …",
 * which the heartbeats carry, so that the status of the run can say it. `moreMs` adds to the allowance of the attempt.
 *
 * @throws what the store answered last, when the attempt has waited long enough, when it has to stop, or when the store
 * refuses the request itself.
 */
export type WaitForStore = <T>(purpose: string, ask: () => Promise<T>, moreMs?: number) => Promise<T>;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** One allowance for everything that an attempt asks of the store. */
export function createStoreWait(call: WaitingCall, allowanceMs: number = CAP.storeWaitMs): WaitForStore {
  let leftMs = allowanceMs;
  return async (purpose, ask, moreMs = 0) => {
    leftMs = Math.max(0, leftMs) + moreMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const startedAt = Date.now();
      try {
        const answer = await ask();
        if (pauseMs > FIRST_PAUSE_MS) call.heartbeat(null);
        return answer;
      } catch (error) {
        if (isRefusal(error) || call.stopped() !== null || leftMs <= 0) throw error;
        call.heartbeat({ [STORE_WAIT]: purpose });
        // A stop ends the pause; the store is then asked once more.
        await sleep(Math.min(pauseMs, leftMs), undefined, { signal: call.signal }).catch(() => undefined);
        leftMs -= Date.now() - startedAt;
      }
    }
  };
}
