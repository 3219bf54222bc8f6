import type { Json } from '../protocol/json.ts';

/** Texts are not cut below this length, because a shorter text would be useless. */
const SHORTEST_TEXT = 200;

/** Size as JSON. Canonical JSON has the same length, because it differs only in the order of keys. */
const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Shortens a value to a number of bytes: first the longest texts lose their middle, then lists lose their last items.
 * Returns null if the value is still too large.
 */
export function shorten(value: Json, maxBytes: number): Json | null {
  const sizes = measure(value);
  const fits = (textChars: number, items: number): boolean => bytesOf(cut(value, textChars, items)) <= maxBytes;
  const textChars = largest(SHORTEST_TEXT, sizes.longestText, (chars) => fits(chars, sizes.longestList));
  if (textChars !== null) return cut(value, textChars, sizes.longestList);
  const items = largest(0, sizes.longestList, (count) => fits(SHORTEST_TEXT, count));
  return items === null ? null : cut(value, SHORTEST_TEXT, items);
}

/**
 * Binary search for the largest number in a range for which `holds` is true. `holds` has to be true for all smaller
 * numbers too.
 */
function largest(from: number, to: number, holds: (value: number) => boolean): number | null {
  if (from > to || !holds(from)) return null;
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function measure(value: Json): { longestText: number; longestList: number } {
  const sizes = { longestText: SHORTEST_TEXT, longestList: 0 };
  const visit = (inner: Json): void => {
    if (typeof inner === 'string') sizes.longestText = Math.max(sizes.longestText, inner.length);
    else if (Array.isArray(inner)) {
      sizes.longestList = Math.max(sizes.longestList, inner.length);
      inner.forEach(visit);
    } else if (typeof inner === 'object' && inner !== null) Object.values(inner).forEach(visit);
  };
  visit(value);
  return sizes;
}

function cut(value: Json, textChars: number, items: number): Json {
  if (typeof value === 'string') return withoutMiddle(value, textChars);
  if (Array.isArray(value)) return value.slice(0, items).map((item) => cut(item, textChars, items));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, textChars, items)]));
}

/** Longer than the longest mark, so that a cut text is never longer than the original. */
const MARK_CHARS = 60;

function withoutMiddle(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const kept = Math.max(0, chars - MARK_CHARS);
  let head = Math.ceil(kept / 2);
  let tail = text.length - Math.floor(kept / 2);
  if (isHalf(text, head)) head -= 1;
  if (isHalf(text, tail)) tail += 1;
  const left = Buffer.byteLength(text.slice(head, tail));
  return `${text.slice(0, head)}\n… ${left} bytes left out …\n${text.slice(tail)}`;
}

/** True if a cut here would split a surrogate pair. */
const isHalf = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
};
