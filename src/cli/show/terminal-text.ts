/* oxlint-disable no-control-regex -- control characters are what this pattern is about */
/** Control characters and characters that change the direction of text. They are removed, because they could control a terminal. */
const UNSAFE_CHARS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;
/* oxlint-enable no-control-regex */
/** East Asian characters and emoji, which take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Makes one line that is safe to print. */
export const oneLine = (text: string): string => text.replaceAll(UNSAFE_CHARS, ' ').trim();

/** Makes several lines that are safe to print. */
export const safeLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replaceAll(UNSAFE_CHARS, ' '))
    .join('\n');

export const displayWidth = (text: string): number => Array.from(text).reduce((sum, char) => sum + charWidth(char), 0);
const charWidth = (char: string): number => (WIDE.test(char) ? 2 : 1);

/** Cuts a text to a number of columns and marks the cut. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const char of text) {
    used += charWidth(char);
    if (used > width - 1) break;
    kept += char;
  }
  return width <= 0 ? '' : `${kept}…`;
}

/** `1 pass`, `2 passes`. */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** `12 s`, `3 min 4 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** `2026-11-16 08:05`, which sorts and needs no locale. */
export const minute = (iso: string | null): string => (iso === null ? '' : iso.slice(0, 16).replace('T', ' '));
