/**
 * Lines that report nothing although they contain failure words: a passing test named "throws an error", source code, a
 * diff, the list of a program's options. They are skipped before any pattern is tried.
 */
const PASSING =
  /^\s{0,40}(?:[✓✔√↓○] |ok \d{1,9}\b|PASS(?:ED)?\b|--- (?:PASS|SKIP)|=== (?:RUN|CONT|PAUSE|NAME)|# Subtest)/;
const PASSED_AT_END =
  /(?:\bPASSED|\bXFAIL|\bSKIPPED|\bXPASS|\.{3} ok|\.{3} ignored|\.{3} OK|\bshould panic \.{3} ok)(?: {1,80}(?:\(.{0,40}\) ?)?(?:\[ {0,3}\d{1,3}%\])?)?$/;
/**
 * Statements and comments of common languages. A stack trace quotes such lines too, and skipping them there loses
 * nothing.
 */
const CODE =
  /^\s{0,80}(?:(?:\d{1,7}[:|-] ?|> ?\d{1,7} ?\| ?)\s{0,40})?(?:\/\/|\/\*|\*\/|#!|#include\b|import [\w{*'"]|from \S{1,80} import\b|export (?:class|const|function|default|type|interface|async|let)\b|(?:const|let|var) \w|function \w|(?:public|private|protected|static) \w|class \w{1,80}\s?[({:]|class \w{1,80} extends\b|def \w{1,80}\(|fn \w{1,80}|func \w|package \w{1,80}$|return\b.{0,200};?$|throw new \w|throw \w{1,40};$|raise(?:$| \w{1,80}\(| \w{1,80}$)|t\.(?:Error|Fatal|Log)f?\(|case \w|try\s?[:{]|except\b.{0,120}:(?:$|\s)|\}? ?catch\s?[({]|if (?:\(|!|\w{1,40} [!=<>]=|\[).{0,200}|fi$|then$|echo ["']|set -\w|exit \d$|(?:it|test|describe)\(|expect\(.{0,200};$|assert\(|log\.\w{1,10}\(|console\.\w{1,10}\()/;
const CODE_END = /(?:[;{]|\}\)?;?|=> \{|\) \{)$/;
const CODE_MARK = /[({=]|=>|^\s{1,40}\w{1,40}\??: \w|%[qvdsw]|\breturn\b|\bthrow\b/;
const OPTION =
  /^-[A-Za-z]{1,2}(?: \w{1,10})? {1,8}: |^\s{1,12}-{1,2}[A-Za-z][\w-]{0,40}(?:[ ,=[<]|$)|^\s{0,4}--[a-z][\w-]{1,40}(?:[ ,=[<]|$)/;
const COMMIT =
  /^(?:[*|\\/ ]{0,12})?[0-9a-f]{7,40} |^\[[\w./-]{1,100} (?:\(root-commit\) )?[0-9a-f]{7,40}\] |^HEAD is now at |^Revert "/;
const DIFF_START = /^(?:diff --git |@@ -\d|--- a\/|\d{1,9}(?:,\d{1,9})?[acd]\d)/;
const DIFF_LINE = /^(?:[+\-<>] ?(?!-)|[+-]{3} |diff --git |index [0-9a-f]|@@ )/;
const LOG_HEADER = /^(?:Author|Date|Merge|Commit|AuthorDate|CommitDate): {1,8}\S/;
const TRACED = /^\+{1,6} \S/;
const FILE_MODE = /^[dlcbps-][rwxsStT-]{9}[.+@]? /;
const USAGE = /^(?:usage|options|flags|commands|arguments|[\w ]{1,40} commands|[\w ()]{1,60} options)\b.{0,40}:/i;

export type QuietState = { diff: boolean; log: boolean; help: boolean };
export const createQuietState = (): QuietState => ({ diff: false, log: false, help: false });

/** True if the line reports nothing. `state` remembers which kind of listing earlier lines have started. */
export function isQuiet(line: string, state: QuietState): boolean {
  if (DIFF_START.test(line)) state.diff = true;
  if (LOG_HEADER.test(line)) state.log = true;
  else if (line !== '' && !line.startsWith('    ')) state.log = false;
  if (USAGE.test(line) || OPTION.test(line)) state.help = true;
  else if (/^\S/.test(line)) state.help = false;
  if (state.help && /^\s/.test(line)) return true;
  if (state.log || (state.diff && DIFF_LINE.test(line))) return true;
  if (COMMIT.test(line) || OPTION.test(line) || TRACED.test(line) || FILE_MODE.test(line)) return true;
  if (PASSING.test(line) || PASSED_AT_END.test(line)) return true;
  if (CODE.test(line)) return true;
  return (
    CODE_END.test(line) &&
    !/^\s{0,40}[{["]/.test(line) &&
    CODE_MARK.test(line) &&
    !/\b(?:Error|Exception|error|fatal|panic): /.test(line)
  );
}

const TABLE = / \| |\S {3,80}\S|^\s{0,12}\d{0,7} [|│]/;
const DEEP = /^\s{4}/;
const COMMENT = /^\s{0,40}(?:\/\/|\/\*|#{1,6} |"{3}|'{3})|^\s{1,40}\* /;
const DOCUMENT_MARK = /^#{1,4} \S|^ {0,8}```|\]\(https?:|^\s{0,8}[*-] .{0,200}\(#\d/;

/** A text with more lines is output or a document, in which a person's words are at the start or the end. */
const SHORT_LINES = 15;
const EDGE_LINES = 5;

/**
 * Tells which lines are prose, in which words can report a failure. In tables, comments, listings, source code and
 * documents ("throws an error if …") only a tool's own report counts.
 */
export function proseLines(lines: string[]): (index: number) => boolean {
  const state = createQuietState();
  let filled = 0;
  let quiet = 0;
  let marks = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    filled += 1;
    if (CODE.test(line) || COMMENT.test(line) || isQuiet(line, state)) quiet += 1;
    if (DOCUMENT_MARK.test(line)) marks += 1;
  }
  const document = filled > 3 && (quiet * 4 >= filled || marks >= 2);
  return (index) => {
    const line = lines[index] ?? '';
    if (document || TABLE.test(line) || COMMENT.test(line)) return false;
    if (filled > 1 && (DEEP.test(line) || !/\S\s+\S/.test(line))) return false;
    return filled <= SHORT_LINES || index < EDGE_LINES || index >= lines.length - EDGE_LINES;
  };
}
