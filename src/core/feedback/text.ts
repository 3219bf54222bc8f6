import { CAP } from '../../protocol/caps.ts';

/**
 * The detector reads at most this many characters. Of longer text it reads the first quarter and the last three
 * quarters of the limit: a failure is told at the end (a runner's summary) or at the start (a compiler), seldom between.
 */
export const SCAN_LIMIT_CHARS = 1_000_000;
/** A longer line is cut, at a space where there is one, so that no pattern ever works on an unbounded line. */
export const LINE_LIMIT_CHARS = 1_000;

export function withinLimit(text: string): string {
  if (text.length <= SCAN_LIMIT_CHARS) return text;
  const head = SCAN_LIMIT_CHARS / 4;
  return `${text.slice(0, head)}\n${text.slice(text.length - (SCAN_LIMIT_CHARS - head))}`;
}

/* eslint-disable-next-line no-control-regex -- colours of a terminal are what is to be removed */
const ANSI = /\u001B\[[0-9;:?]*[A-Za-z]/g;

/** Colours go, ’ and ‘ become ', so that every pattern needs to know one apostrophe only. */
export const normalized = (text: string): string =>
  text.replace(ANSI, '').replaceAll('\u2019', "'").replaceAll('\u2018', "'").replaceAll('\r', '');

export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    let start = 0;
    while (line.length - start > LINE_LIMIT_CHARS) {
      // Looked for in the piece alone: searching the line backwards would make long lines quadratic.
      const space = line.slice(start, start + LINE_LIMIT_CHARS).lastIndexOf(' ');
      const end = start + (space > 0 ? space : LINE_LIMIT_CHARS);
      lines.push(line.slice(start, end));
      start = end;
    }
    lines.push(line.slice(start));
  }
  return lines;
}

/** `following` is what the line says after the sentence: how a thing ended is often told there. */
export type Sentence = { text: string; question: boolean; afterQuestion: boolean; following: string };

const FOLLOWING_CHARS = 300;
const SENTENCE_END = /[.!?;](?=\s|$)/g;

/** Sentences of one line. `afterQuestion` tells an answer from a remark; it is carried over line ends by the caller. */
export function sentencesOf(line: string, afterQuestion: boolean): Sentence[] {
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

/** One clean line for a prompt or an answer: no control characters, no run of spaces, capped. */
export function oneLine(text: string, maxChars: number = CAP.messagePreviewChars): string {
  const clean = text
    .slice(0, maxChars * 4)
    .replace(UNPRINTABLE, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  if (clean.length <= maxChars) return clean;
  // Never half a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(clean.charAt(maxChars - 2)) ? maxChars - 2 : maxChars - 1;
  return `${clean.slice(0, end)}…`;
}
