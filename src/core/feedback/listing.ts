/**
 * A text that consists only of source code or documentation, such as the output of `cat`. It contains many failure
 * words and examples, but reports no failure. Only a line that differs from the rest can be a report.
 */
const MIN_LINES = 8;

const STATEMENT =
  /^\s{0,80}(?:\/\/|\/\*|\*|#|--\s|"{3}|'{3}|@\w|<\/?[a-zA-Z!]|[)}\]>]|(?:import|from|export|const|let|var|function|class|interface|type|namespace|declare|enum|public|private|protected|static|async|await|return|throw|raise|def|fn|func|pub|use|mod|impl|package|sub|my|our|local|require|elif|else|if|while|for|foreach|with|yield|try|except|finally|catch|case|default|switch|typedef|struct|extern|union|unsigned|int|char|void|readonly|abstract|get|set|new|print|assert)\b)/;
const CODE_END = /(?:[;{}([,]|=>|\*\/|\\|&&|\|\||\+|=)$/;
const MEMBER = /^\s{1,80}[\w$'"@.[\]*-]{1,80}[?!]?\s?[:=(]/;
const FRAME = /^\s{1,20}at /;
const DIAGNOSTIC =
  /^\S{1,200}:\d{1,9}:|^(?:error|Error|ERROR|fatal|panic|FAIL|Traceback)\b|^\w{0,40}(?:Error|Exception):/;
const INDENTED = /^\s/;

const looksLikeCode = (line: string): boolean =>
  !FRAME.test(line) && !DIAGNOSTIC.test(line) && (STATEMENT.test(line) || CODE_END.test(line) || MEMBER.test(line));

const HEADING = /^#{1,4} \S/;
const FENCE = /^\s{0,8}(?:```|~~~)/;
const LINK = /\]\((?:https?:|\.|#|\/)|^\[[^\]]{1,80}\]: |^\s{0,8}<img |^\s{0,8}!\[/;
const MANUAL_LINE = /^\s{0,12}(?:[*+-]|\d{1,3}\.|>|\|)\s|`|^#{1,6} |\]\(/;
/** A bug report has headings too, but the failures in it did happen. */
const BUG_REPORT = /\b(?:bug|reproduc\w{1,6}|actual|observed|what happened|stack ?trace|steps|error log)\b/i;

/** Tells which lines of the text are part of a listing. Undefined if the text is not a listing. */
export function findListedLines(lines: string[]): boolean[] | undefined {
  const found = foundLines(lines);
  if (found !== undefined) return found;
  // An answer in JSON is not source code.
  if (
    lines.length < MIN_LINES ||
    /^\s{0,20}(?:[[{]|"[^"]{1,100}":)/.test(lines.find((line) => line.trim() !== '') ?? '')
  )
    return undefined;
  return sourceLines(lines) ?? manualLines(lines);
}

/** Output of a search: `src/a.ts:12:` and the line. A compiler also prints a column, or `error` after it. */
const FOUND = /^[\w./@+-]{1,200}[:-]\d{1,9}[:-](?!\d| (?:fatal |internal )?(?:error|warning|note|info)\b)/;
const MIN_FOUND = 3;

function foundLines(lines: string[]): boolean[] | undefined {
  const listed = lines.map((line) => FOUND.test(line));
  const filled = lines.filter((line) => line.trim() !== '').length;
  const found = listed.filter(Boolean).length;
  return found >= MIN_FOUND && found * 10 >= filled * 7 ? listed : undefined;
}

function sourceLines(lines: string[]): boolean[] | undefined {
  let filled = 0;
  let code = 0;
  let block = false;
  const listed: boolean[] = [];
  for (const line of lines) {
    if (line.trim() === '') {
      listed.push(true);
      continue;
    }
    const turns = blockTurns(line, block);
    const inside = block || turns;
    if (turns) block = !block;
    const isCode = inside || looksLikeCode(line);
    filled += 1;
    if (isCode) code += 1;
    listed.push(isCode || (INDENTED.test(line) && !FRAME.test(line)));
  }
  return filled >= MIN_LINES && code * 10 >= filled * 7 ? listed : undefined;
}

/** True if a comment, a doc string or a POD section begins or ends here. */
function blockTurns(line: string, inside: boolean): boolean {
  if (/^=\w/.test(line)) return inside === line.startsWith('=cut');
  if (/^\s{0,80}[rbu]?(?:"{3}|'{3})/i.test(line) || /(?:"{3}|'{3})$/.test(line))
    return line.split(/"{3}|'{3}/).length % 2 === 0;
  return inside ? line.includes('*/') : /^\s{0,80}\/\*/.test(line) && !line.includes('*/');
}

function manualLines(lines: string[]): boolean[] | undefined {
  let headings = 0;
  let marks = 0;
  let report = false;
  let fenced = false;
  const listed = lines.map((line) => {
    if (FENCE.test(line)) {
      fenced = !fenced;
      marks += 1;
      return true;
    }
    if (fenced) return true;
    if (HEADING.test(line)) {
      headings += 1;
      if (BUG_REPORT.test(line)) report = true;
    }
    if (LINK.test(line)) marks += 1;
    return MANUAL_LINE.test(line);
  });
  return headings >= 2 && marks >= 3 && !report ? listed : undefined;
}
