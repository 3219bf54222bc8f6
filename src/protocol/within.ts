/**
 * Runs `work` with a timeout. When the time is up it returns what `onTimeout` returns; the default throws an error. A
 * later result or error of `work` is ignored.
 */
export async function within<T>(
  timeoutMs: number,
  work: () => Promise<T>,
  onTimeout: () => T = () => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  },
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  try {
    const first = await Promise.race([work().then((value) => ({ value })), late]);
    return first === 'late' ? onTimeout() : first.value;
  } finally {
    clearTimeout(timer);
  }
}
