/**
 * Notices that this process stood still: a suspended machine, a stopped process, an event loop that was blocked. The server has
 * then missed the heartbeats and may have given every attempt of this worker up, so none of them may act any more.
 */
const TICK_MS = 500;
/** Less than the heartbeat timeout of 5 s, because the client sends heartbeats less often than the runner beats. */
const FROZEN_MS = 3_000;

let lastTick = clocks();
let frozenUntil = Number.NEGATIVE_INFINITY;

/** The monotonic clock stops while a machine is suspended, and the wall clock may be set: a gap in either one counts. */
function clocks(): { wall: number; monotonic: number } {
  return { wall: Date.now(), monotonic: performance.now() };
}

function look(): void {
  const now = clocks();
  const gap = Math.max(now.wall - lastTick.wall, now.monotonic - lastTick.monotonic);
  if (gap > FROZEN_MS) frozenUntil = now.wall;
  lastTick = now;
}
setInterval(look, TICK_MS).unref();

/** True if the process stood still at some time since `at`, by the wall clock. Also true right after it woke up. */
export function wasFrozenSince(at: number): boolean {
  look();
  return frozenUntil >= at;
}
