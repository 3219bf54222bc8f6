const WHITE_SPACE = /\p{White_Space}/u;
const FILE_SEPARATOR = 0x1c;
const UNIT_SEPARATOR = 0x1f;

/**
 * Unicode White_Space and U+001C–U+001F, which Python's `strip` removes. JavaScript's `trim` differs: it keeps U+0085
 * and those four separators, and removes U+FEFF.
 */
function isWhite(character: string): boolean {
  const code = character.charCodeAt(0);
  return (code >= FILE_SEPARATOR && code <= UNIT_SEPARATOR) || WHITE_SPACE.test(character);
}

/** Trims by index, because a pattern for the end would be retried at every space of a long run. */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhite(text.charAt(start))) start += 1;
  while (end > start && isWhite(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** The first `count` code points, so that no character outside the basic plane is split. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
