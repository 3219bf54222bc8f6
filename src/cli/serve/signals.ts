const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm and tsx pass a signal on that the terminal has already sent to all: that is still one Ctrl-C. */
const SAME_KEYPRESS_MS = 400;

/** Tells of the first, second, … time that somebody asked this process to end. */
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
