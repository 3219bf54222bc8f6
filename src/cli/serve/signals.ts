const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm and tsx forward a signal that the terminal has already sent to all processes. Both count as one Ctrl-C. */
const SAME_KEYPRESS_MS = 400;

/** Calls back with 1, 2, … for each request to end this process. */
export function onSignals(asked: (times: number) => void): void {
  let times = 0;
  let last = -Infinity;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - last < SAME_KEYPRESS_MS) return;
      last = now;
      times += 1;
      asked(times);
    });
  }
}
