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

/** Lines of at most so many columns, broken at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  for (;;) {
    // A line needs no more than this of a long text, and looking at all of it each time would take too long.
    const start = rest.slice(0, 2 * width + 2);
    if (displayWidth(start) <= width) return [...lines, rest];
    const fits = Math.max(1, cut(start, width + 1).length - 1);
    const space = rest.lastIndexOf(' ', fits);
    const end = space > width / 3 ? space : fits;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
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

/** `$0.0123`. */
export const dollars = (microUsd: number): string => `$${(microUsd / 1_000_000).toFixed(4)}`;

/** `2026-11-16 08:05`, which sorts and needs no locale. */
export const minute = (iso: string | null): string => (iso === null ? '' : iso.slice(0, 16).replace('T', ' '));
