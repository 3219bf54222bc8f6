import type { LoopCall, LoopOutcome } from './loop-detector.ts';
import { afterCall } from './loop-detector.ts';
import type { LoopPolicy, Stall } from './loop-watch.ts';
import { createLoopWatch } from './loop-watch.ts';

export interface FoundLoop extends Stall {
  /** The call that completed the stall. With the detector active, the next equal call would not run. */
  detected_at: number;
}

/** Finds the loops in a transcript of calls that all ran. Each loop is reported once, with its full length. */
export const findLoops = (
  transcript: readonly { call: LoopCall; outcome: LoopOutcome }[],
  policy: LoopPolicy,
): FoundLoop[] => {
  const found: FoundLoop[] = [];
  let state = createLoopWatch();
  for (const { call, outcome } of transcript) {
    const after = afterCall(state, call, outcome, policy);
    state = after.state;
    if (after.stall) found.push({ ...after.stall, detected_at: after.stall.end });
    for (const open of state.stalls) {
      const loop = found.findLast((one) => one.fingerprint === open.fingerprint && one.start === open.start);
      if (loop) Object.assign(loop, { end: open.end, repeats: open.repeats });
    }
  }
  return found;
};
