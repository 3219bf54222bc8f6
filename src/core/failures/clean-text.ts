/** How much of a message is scanned: its start and its end, because a traceback has the error at its end. */
const HEAD_CHARS = 8_000;
const TAIL_CHARS = 8_000;

/**
 * Cuts a long text to its start and end. The end begins at a whole line, so that no partial line is mistaken for a
 * whole one.
 */
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

/** Removes colours, cursor moves and control characters. A lone CR, as progress bars print it, becomes a line break. */
export const stripControls = (text: string): string =>
  text.replace(ANSI_COMMAND, '').replace(ANSI_TITLE, '').replace(LINE_BREAK, '\n').replace(OTHER_CONTROL, ' ');

export const collapseSpaces = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Cleans a name for identifiers and for sentences that a model reads. It has no spaces, so it cannot contain an
 * instruction.
 */
export const cleanName = (name: string, maxChars: number): string =>
  name.slice(0, maxChars).replace(/[^A-Za-z0-9._-]/g, '_');
