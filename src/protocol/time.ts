/** RFC 3339 UTC of a point in time; pure, because the time is given. */
export function isoTime(epochMs: number): string {
  const known = texts.get(epochMs);
  if (known !== undefined) return known;
  const text = new Date(epochMs).toISOString();
  if (texts.size >= KEPT) texts.clear();
  texts.set(epochMs, text);
  return text;
}

/** Much happens in the same millisecond, and writing one down takes longer than most of it. */
const texts = new Map<number, string>();
const KEPT = 64;
