export interface Latency {
  p50: number;
  p99: number;
}

/** Measures each call in milliseconds, one after the other. The first few only warm up. */
export async function measure(count: number, call: (index: number) => unknown): Promise<Latency> {
  const times: number[] = [];
  const warmUp = Math.min(20, count);
  for (let index = -warmUp; index < count; index += 1) {
    const startedAt = performance.now();
    await call(Math.abs(index));
    if (index >= 0) times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  return { p50: at(times, 0.5), p99: at(times, 0.99) };
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;

export const named = (name: string, { p50, p99 }: Latency) => ({ [`${name}_p50_ms`]: p50, [`${name}_p99_ms`]: p99 });
