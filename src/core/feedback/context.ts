import { toOneLine } from './scanned-text.ts';
import type { FeedbackContext } from './types.ts';

/**
 * Reads details of a failure from a tool's output or a person's report, line by line. The first finding of each kind is
 * kept.
 */
const FRAMEWORKS: [string, RegExp][] = [
  ['Vitest', /\bvitest\b|^ {0,4}RUN {1,4}v\d|^ {0,4}Test Files {1,4}\d/im],
  ['Jest', /\bjest\b|^Test Suites: /im],
  ['Mocha', /\bmocha\b/i],
  ['pytest', /\bpytest\b|^={5,80} test session starts ={5,80}$/im],
  ['unittest', /\bunittest\b/],
  ['go test', /^--- FAIL: |\bgo test\b|\*testing\.T\b/m],
  ['cargo', /\bcargo\b|^test result: /m],
  ['node:test', /^TAP version 13$|\bnode:internal\/test_runner\b|\bnode --test\b/m],
  ['TypeScript', /\berror TS\d{3,6}\b|\btsc\b/],
  ['ESLint', /\beslint\b/i],
  ['mypy', /\bmypy\b/],
  ['Rust', /^error\[E\d{4}\]|\bpanicked at\b|\brustc\b/m],
  ['Go', /^goroutine \d{1,9} \[|\.go:\d{1,9}(?::\d|$| )/m],
  ['Java', /^\s{1,8}at [\w$.]{1,200}\([\w$]{1,100}\.java:\d|\.java:\d{1,9}: error:|\bjava\.(?:lang|util|io)\./m],
  ['Python', /\bTraceback \(most recent call last\)|^\s{2,4}File "[^"\n]{1,300}", line \d/m],
  ['Node.js', /^\s{1,8}at .{1,200}\((?:node:|file:|\/).{1,300}:\d{1,9}:\d{1,9}\)|^Node\.js v\d|\bnode:internal\b/m],
  ['npm', /^npm (?:ERR!|error)\s/m],
  ['PostgreSQL', /\bpsql: |^ERROR: {2}\S/m],
  ['SQLite', /\bsqlite3?\b/i],
  ['C or C++', /^[^\s:]{1,200}\.(?:c|cc|cpp|h|hpp):\d{1,9}:\d{1,9}: /m],
  ['Git', /^git: |^fatal: .{0,200}\bgit\b/m],
];

const MESSAGE =
  /(?:^|[\s:(>"'])((?:[\w$.]{0,80}(?:Error|Exception|Exceeded|Failure)(?: \[\w{1,40}\])?|error(?: TS\d{3,6}|\[[A-Z]\d{3,5}\])?|ERROR|Error|fatal|FATAL|panic): {0,4}\S.{0,400})/;
const EXCEPTION_TYPE = /\b([A-Z]\w{0,60}(?:Error|Exception))\b/;
const EXIT_CODE =
  /\bexit(?:s|ed)?(?: with)?(?: a)?[ _]?(?:code|status)(?: of|:|=)? ?(-?\d{1,9})\b|\bwith (?:code|status) (\d{1,9})\b/i;
const STACK_FRAME =
  /^\s{1,12}at .{1,300}[(:]\S{0,300}:\d{1,9}\)?|^\s{2,4}File "[^"]{1,300}", line \d|^\s{1,8}at [\w$.]{1,200}\(|^Traceback \(most recent|^goroutine \d{1,9} \[|^\s{1,4}\d{1,4}: {1,8}0x|\bstack backtrace:|^ {4}#\d{1,3} 0x/;
const TEST_NAME: RegExp[] = [
  /^\s{0,20}--- FAIL: (\S{1,200})/,
  /^\s{0,20}(?:FAILED|ERROR) (\S{1,200}::\S{1,200})/,
  /^_{3,80} (?:ERROR (?:at setup of |collecting )?)?([\w.[\]-]{1,120}) _{3,80}$/,
  /^\s{0,20}(?:FAIL|×|✕|✗|✘) {1,4}(?:\[fail\]: )?(?:\|\S{1,40}\| )?(\S.{0,200} > .{1,160})$/,
  /^\s{0,4}● (.{1,200})$/,
  /^\s{0,20}[✕×✗✘] (?:\[fail\]: )?(?!\[ERROR\])(.{1,160}?)(?: \(?\d{1,9} ?ms\)?)?$/,
  /^\s{0,20}not ok \d{1,9} - (.{1,200})$/,
  /^(?:test )?([\w:]{1,160}) \.\.\. FAILED$/,
  /^(?:FAIL|ERROR): (test\w{0,120})/,
  /^\s{2,20}\d{1,6}\) (.{1,160})$/,
  /\btests? (?:case |named |called )?["'`]([^"'`\n]{2,160})["'`]/i,
  /\b((?:test_|Test)[A-Za-z0-9_]{2,120})\b/,
];
/** [expression, group of expected, group of actual]; 0 means none. */
const VALUES: [RegExp, number, number][] = [
  [
    /^\s{0,20}(?:E {1,10})?expected(?: value)?: {0,8}(\S.{0,200}?)(?:,? (?:but )?(?:actual|got|received|was): {0,4}(\S.{0,160}))?$/i,
    1,
    2,
  ],
  [/^\s{0,20}(?:received|actual)(?: value)?: {0,8}(\S.{0,200})$/i, 0, 1],
  [/\bexpected:? (.{1,120}?),? actual:? (.{1,120}?)[.]?$/i, 1, 2],
  [
    /\bexpected (.{1,120}) to (?:strictly |deeply |loosely )?(?:be|equal|match|contain|include|eql?)(?: to)? (.{1,120}?)(?: but (?:it was|was|got) (.{1,80}))?(?: \/\/ .{0,80})?[.]?$/i,
    2,
    1,
  ],
  [/\bexpected (.{1,100}?),? (?:but )?(?:got|received|was|found) (.{1,100}?)[.]?$/i, 1, 2],
  [/ = (.{1,100}), want (.{1,100})$/, 2, 1],
  [
    /\bshould (?:be|equal|return|have|print|give) (.{1,100}?),? but (?:\w{1,20} ){0,3}?(?:is|are|was|were|got|returns?|returned|gives?|gave|received|equals?|prints?|printed) (.{1,100}?)[.]?$/i,
    1,
    2,
  ],
  [/^E {3,8}(?:AssertionError: )?assert (.{1,120}) == (.{1,120})$/, 2, 1],
  [/^AssertionError: (.{1,120}) != (.{1,120})$/, 2, 1],
  [/^\s{1,8}left: (.{1,160})$/, 0, 1],
  [/^\s{1,8}right: (.{1,160})$/, 1, 0],
  [/^(\S{1,100}) !==? (\S{1,100})$/, 2, 1],
];

const has = (context: FeedbackContext, key: keyof FeedbackContext): boolean => context[key] !== undefined;

function readValues(line: string, context: FeedbackContext): void {
  for (const [regex, expected, actual] of VALUES) {
    const found = regex.exec(line);
    if (found === null) continue;
    const wanted = found[expected];
    const got = found[actual];
    if (expected > 0 && wanted !== undefined && !has(context, 'expected')) context.expected = toOneLine(wanted, 200);
    if (actual > 0 && got !== undefined && !has(context, 'actual')) context.actual = toOneLine(got, 200);
    return;
  }
}

/** Reads the details. A Python traceback has its error at the end; other tools print it first. */
export function readContext(lines: string[]): FeedbackContext {
  const context: FeedbackContext = {};
  let python = false;
  let previous = '';
  for (const line of lines) {
    if (line.startsWith('Traceback (most recent')) python = true;
    if (!has(context, 'stack_trace') && STACK_FRAME.test(line)) {
      context.stack_trace = true;
      // An error whose name is not recognized, such as `QuotaExceeded: 10 of 10 used`, is on the line above the first
      // frame.
      if (previous !== '' && /^\s{1,12}at /.test(line)) context.error_message ??= toOneLine(previous);
    }
    if (line.trim() !== '') previous = line;
    const message = MESSAGE.exec(line)?.[1];
    if (message !== undefined && (!has(context, 'error_message') || (python && /^\S/.test(line))))
      context.error_message = toOneLine(message);
    const code = EXIT_CODE.exec(line);
    if (code !== null && !has(context, 'exit_code')) {
      const exit = Number(code[1] ?? code[2]);
      if (exit !== 0) context.exit_code = exit;
    }
    if (!has(context, 'test_name')) {
      for (const regex of TEST_NAME) {
        const name = regex.exec(line)?.[1];
        if (name === undefined) continue;
        context.test_name = toOneLine(name, 200);
        break;
      }
    }
    if (!has(context, 'expected') || !has(context, 'actual')) readValues(line, context);
    if (!has(context, 'exception_type')) {
      const type = EXCEPTION_TYPE.exec(line)?.[1];
      if (type !== undefined) context.exception_type = type;
    }
  }
  return context;
}

/** Tools print their name at the start or at the end of their output. */
const END_CHARS = 10_000;

export function detectFramework(text: string): string | undefined {
  const ends = text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`;
  for (const [name, regex] of FRAMEWORKS) if (regex.test(ends)) return name;
  return undefined;
}
