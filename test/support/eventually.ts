/**
 * Polls until the result is the wanted one. For concurrent tests, because `expect.poll` loses its test as soon as
 * another test ends.
 */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isWanted: (seen: T) => boolean,
  { timeoutMs = 30_000, intervalMs = 30 } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (isWanted(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`after ${timeoutMs} ms it is still ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
