import { headAndTail, collapseSpaces, stripControls } from './clean-text.ts';

const TRACEBACK = 'Traceback (most recent call last):';
/** The part of a compiler's line before its message: a place, a kind of error, a code. */
const COMPILER_ERROR = /(?:^|[\s:)-])(?:fatal )?error(?: [A-Z]{1,8}\d{1,6})?: |^error(?:\[[A-Z]\d{1,5}\])?: /;
const PLACE = /^[^\s:(]{1,400}(?:\(\d{1,7}(?:,\d{1,7})?\)|:\d{1,7})/;
const ERROR_HEADING = /^(?:Uncaught |Caused by: )?(?:[A-Za-z_$][\w$]{0,80}\.){0,10}[\w$]{0,80}(?:Error|Exception)\b/;
const WORD = /[\p{L}\p{N}]/u;

const isCompilerError = (line: string): boolean =>
  COMPILER_ERROR.test(line) && (PLACE.test(line) || /^(?:fatal )?error/.test(line));

/**
 * Finds the line that names the exception: it has the same indentation as its `Traceback`, after the indented frames.
 */
const exceptionOfTraceback = (lines: readonly string[], header: number): string | undefined => {
  const headerLine = lines[header] ?? '';
  const before = headerLine.slice(0, headerLine.indexOf(TRACEBACK));
  const column = /^[\s|+-]*$/.test(before) ? before.length : 0;
  return lines
    .slice(header + 1)
    .find((line) => /^[\s|]*$/.test(line.slice(0, column)) && /^\S/.test(line.slice(column)));
};

const pythonLine = (lines: readonly string[]): string | undefined => {
  const header = lines.findLastIndex((line) => line.includes(TRACEBACK));
  if (header >= 0) return exceptionOfTraceback(lines, header)?.replace(/^[\s|]+/, '') ?? lines.findLast(hasWord);
  // A SyntaxError has no `Traceback` header: it starts with the place and ends with the error.
  return /^\s*File "/.test(lines.find(hasWord) ?? '') ? lines.findLast((line) => /^\S/.test(line)) : undefined;
};

const panicLine = (lines: readonly string[]): string | undefined => {
  const at = lines.findIndex((line) => /^(?:panic: |thread '[^']{0,100}' panicked at )/.test(line));
  const line = lines[at];
  // Rust prints the message on the line after the place.
  return line?.startsWith('thread ') && line.endsWith(':') ? (lines[at + 1] ?? line) : line;
};

const titleOfPage = (text: string): string | undefined =>
  /^\s*</.test(text) ? /<title>([^<]{1,300})<\/title>/i.exec(text)?.[1] : undefined;

const hasWord = (line: string): boolean => WORD.test(line);

/**
 * Finds the line of a message that says what is wrong: the last exception of a Python traceback, the first line of a
 * panic, a compiler error or a Node error, or else the first line with a word in it. It needs the whole message,
 * because a preview may lack the end of a traceback.
 */
export const salientLine = (message: string): string => {
  const text = stripControls(headAndTail(message));
  const lines = text.split('\n').map((line) => line.trimEnd());
  const line =
    pythonLine(lines) ??
    panicLine(lines) ??
    lines.find(isCompilerError) ??
    lines.find((line) => ERROR_HEADING.test(line)) ??
    titleOfPage(text) ??
    firstLine(text, lines);
  return collapseSpaces(line);
};

/** Printed JSON begins with a lone bracket; then the whole text counts as the line. */
const firstLine = (text: string, lines: readonly string[]): string => {
  const opening = lines.find((line) => line !== '')?.trim() ?? '';
  return /^[[{]+$/.test(opening) ? text : (lines.find(hasWord) ?? opening);
};
