/** A time as RFC 3339 in UTC. It is pure, because the time is an argument. */
export function isoTime(epochMs: number): string {
  const known = texts.get(epochMs);
  if (known !== undefined) return known;
  const text = new Date(epochMs).toISOString();
  if (texts.size >= KEPT) texts.clear();
  texts.set(epochMs, text);
  return text;
}

/** Formatting a time is slow, and many events share a millisecond, so the latest results are cached. */
const texts = new Map<number, string>();
const KEPT = 64;
