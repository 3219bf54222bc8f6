import { CAP } from '../../protocol/caps.ts';

/**
 * The detector reads at most this many characters. Of a longer text it reads the start (a quarter of the limit) and the
 * end (three quarters), because compilers report failures at the start and test runners at the end.
 */
export const SCAN_LIMIT_CHARS = 1_000_000;
/** A longer line is split, at a space if possible, so that no pattern runs on a line of unlimited length. */
export const LINE_LIMIT_CHARS = 1_000;

export function cutToScanLimit(text: string): string {
  if (text.length <= SCAN_LIMIT_CHARS) return text;
  const head = SCAN_LIMIT_CHARS / 4;
  return `${text.slice(0, head)}\n${text.slice(text.length - (SCAN_LIMIT_CHARS - head))}`;
}

/* eslint-disable-next-line no-control-regex -- colours of a terminal are what is to be removed */
const ANSI = /\u001B\[[0-9;:?]*[A-Za-z]/g;

/** Removes colours and replaces ’ and ‘ with ', so that patterns need only one kind of apostrophe. */
export const normalizeText = (text: string): string =>
  text.replace(ANSI, '').replaceAll('\u2019', "'").replaceAll('\u2018', "'").replaceAll('\r', '');

export function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    let start = 0;
    while (line.length - start > LINE_LIMIT_CHARS) {
      // Only this piece is searched: searching the whole line backwards would make long lines quadratic.
      const space = line.slice(start, start + LINE_LIMIT_CHARS).lastIndexOf(' ');
      const end = start + (space > 0 ? space : LINE_LIMIT_CHARS);
      lines.push(line.slice(start, end));
      start = end;
    }
    lines.push(line.slice(start));
  }
  return lines;
}

/** `following` is the rest of the line after the sentence, which often tells how it ended. */
export type Sentence = { text: string; question: boolean; afterQuestion: boolean; following: string };

const FOLLOWING_CHARS = 300;
const SENTENCE_END = /[.!?;](?=\s|$)/g;

/**
 * Splits a line into sentences. `afterQuestion` tells an answer from a remark; the caller passes it on to the next
 * line.
 */
export function splitSentences(line: string, afterQuestion: boolean): Sentence[] {
  const found: Sentence[] = [];
  let start = 0;
  let after = afterQuestion;
  const push = (end: number): void => {
    const text = line.slice(start, end).trim();
    if (text === '') return;
    const question = text.endsWith('?');
    found.push({ text, question, afterQuestion: after, following: line.slice(end, end + FOLLOWING_CHARS) });
    after = question;
  };
  for (const stop of line.matchAll(SENTENCE_END)) {
    const end = stop.index + stop[0].length;
    push(end);
    start = end;
  }
  push(line.length);
  return found;
}

/* eslint-disable-next-line no-control-regex -- control characters must not travel into a prompt */
const UNPRINTABLE = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g;

/** One clean line for a prompt or an answer: capped, without control characters and repeated spaces. */
export function toOneLine(text: string, maxChars: number = CAP.messagePreviewChars): string {
  const clean = text
    .slice(0, maxChars * 4)
    .replace(UNPRINTABLE, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  if (clean.length <= maxChars) return clean;
  // Do not split a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(clean.charAt(maxChars - 2)) ? maxChars - 2 : maxChars - 1;
  return `${clean.slice(0, end)}…`;
}
