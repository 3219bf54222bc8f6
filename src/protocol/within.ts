/**
 * What `work` gives, or what `onTimeout` gives once the time is up; without `onTimeout` that is an error. A result that comes
 * later is dropped, also when it is an error.
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
