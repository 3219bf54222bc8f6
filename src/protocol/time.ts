/** A time as RFC 3339 in UTC. It is pure, because the time is an argument. */
export function isoTime(epochMs: number): string {
  const day = Math.floor(epochMs / DAY_MS);
  if (!Number.isInteger(epochMs) || day !== latest.day) {
    const text = new Date(epochMs).toISOString();
    latest = { day, date: text.slice(0, text.indexOf('T') + 1) };
    return text;
  }
  const ms = epochMs - day * DAY_MS;
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const time = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${latest.date}${time}.${String(1_000 + (ms % 1_000)).slice(1)}Z`;
}

const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
/** Formatting a date is slow, and times that are formatted one after another are almost always of the same day. */
let latest: { day: number; date: string } = { day: Number.NaN, date: '' };
