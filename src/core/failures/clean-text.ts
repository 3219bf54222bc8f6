/** The most of one message that is ever scanned: its head and its tail, since a traceback says at its end what it is. */
const HEAD_CHARS = 8_000;
const TAIL_CHARS = 8_000;

/** Cuts a long text to its head and tail; the tail starts with a whole line, so that no half line looks like one. */
export const headAndTail = (text: string): string => {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text;
  const tail = text.slice(text.length - TAIL_CHARS);
  return `${text.slice(0, HEAD_CHARS)}\n${tail.slice(tail.indexOf('\n') + 1)}`;
};

/* oxlint-disable no-control-regex -- control characters are what these patterns are about */
const ANSI_COMMAND = /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]/g;
const ANSI_TITLE = /\u001b\][^\u0007\u001b]{0,256}(?:\u0007|\u001b\\)/g;
const LINE_BREAK = /\r\n|[\r\u0085\u2028\u2029]/g;
const OTHER_CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
/* oxlint-enable no-control-regex */

/** Colours, cursor moves and control characters say nothing about a failure; a lone CR (progress bars) ends a line. */
export const withoutControls = (text: string): string =>
  text.replace(ANSI_COMMAND, '').replace(ANSI_TITLE, '').replace(LINE_BREAK, '\n').replace(OTHER_CONTROL, ' ');

export const oneSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** A name as it may stand in an identifier or a sentence that a model reads: no spaces, so no sentence can hide in it. */
export const cleanName = (name: string, maxChars: number): string =>
  name.slice(0, maxChars).replace(/[^A-Za-z0-9._-]/g, '_');
