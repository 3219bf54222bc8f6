/**
 * Reads the header Retry-After: seconds, or a date in one of the three forms of RFC 9110. Date.parse is not used,
 * because it accepts far more than HTTP does, and the caller provides the clock.
 */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY_MS = 86_400_000;

const SECONDS = /^\d{1,15}(?:\.\d{1,6})?$/;
const IMF_DATE = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT$/;
const RFC_850_DATE = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/;

/** Days since 1970-01-01 of a Gregorian date. Years start in March here, so that the leap day is the last day. */
const daysOf = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
};

interface DateParts {
  year: number;
  month: string;
  day: number;
  time: string;
}

const epochMs = ({ year, month, day, time }: DateParts): number | undefined => {
  const monthNumber = MONTHS.indexOf(month) + 1;
  const [hours = 99, minutes = 99, seconds = 99] = time.split(':').map(Number);
  // 60 is a leap second and counts as the first second of the next minute.
  if (monthNumber === 0 || day < 1 || day > 31 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  return daysOf(year, monthNumber, day) * DAY_MS + (hours * 3_600 + minutes * 60 + seconds) * 1_000;
};

const yearNow = (nowMs: number): number => 1970 + Math.floor(nowMs / (365.2425 * DAY_MS));

/** A two-digit year that seems more than 50 years ahead means the most recent past year with these digits. */
const fullYear = (twoDigits: number, nowMs: number): number => {
  const now = yearNow(nowMs);
  const candidate = Math.floor(now / 100) * 100 + twoDigits;
  return candidate > now + 50 ? candidate - 100 : candidate;
};

const parseHttpDate = (text: string, nowMs: number): number | undefined => {
  const imf = IMF_DATE.exec(text);
  if (imf !== null) {
    const [, day, month = '', year, time = ''] = imf;
    return epochMs({ year: Number(year), month, day: Number(day), time });
  }
  const rfc850 = RFC_850_DATE.exec(text);
  if (rfc850 !== null) {
    const [, day, month = '', twoDigits, time = ''] = rfc850;
    return epochMs({ year: fullYear(Number(twoDigits), nowMs), month, day: Number(day), time });
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime === null) return undefined;
  const [, month = '', day, time = '', year] = asctime;
  return epochMs({ year: Number(year), month, day: Number(day), time });
};

/**
 * Returns the milliseconds to wait, or undefined if the value is not a valid Retry-After. A date needs `nowMs`; a past
 * date gives 0.
 */
export const parseRetryAfter = (value: unknown, nowMs?: number): number | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.ceil(value * 1_000) : undefined;
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const text = value.trim();
  if (SECONDS.test(text)) return Math.ceil(Number(text) * 1_000);
  if (nowMs === undefined || !Number.isFinite(nowMs)) return undefined;
  const at = parseHttpDate(text, nowMs);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
};
