/** What `work` gives, or what `otherwise` gives when it takes too long. Late results are dropped. */
export async function within<T>(ms: number, work: Promise<T>, otherwise: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late');
  });
  try {
    const first = await Promise.race([work.then((value) => ({ value })), late]);
    return first === 'late' ? otherwise() : first.value;
  } finally {
    clearTimeout(timer);
    // It may still fail later, when nobody asks any more.
    work.catch(() => {});
  }
}
