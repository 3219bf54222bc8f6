import { CAP } from '../../protocol/caps.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { encodedBytes } from '../transcript/shorten-to-bytes.ts';
import { stripControls } from './clean-text.ts';

/** The most characters of one line that are kept. */
const LINE_CHARS = 400;
/** How many lines after a failing line belong to it: the expected and the received value, the place. */
const LINES_AFTER = 6;
const GAP = '…';
/** What the headings and the gaps between lines may take together. */
const HEADING_BYTES = 120;

/**
 * Lines by which test runners and compilers name a failure. Each pattern is linear: it starts at the beginning of a line,
 * or its quantifiers are bounded.
 */
const FAILING: readonly RegExp[] = [
  // vitest, jest, pytest and go test: `FAIL  a.test.ts > adds`, `FAILED tests/test_a.py::test_adds - assert 1 == 2`
  /^\s{0,40}(?:--- )?(?:FAIL|FAILED|FAILURE|ERROR|FATAL|PANIC)(?![\w-])/,
  // vitest, jest, mocha and node --test: `× adds`, `● sum › adds`, `✖ adds (1ms)`
  /^\s{0,40}[✗✘✕✖×❌●]\s/u,
  // TAP: `not ok 1 - adds`
  /^\s{0,40}not ok\b/,
  // mocha: `1) sum adds:`
  /^\s{0,40}\d{1,4}\) \S/,
  // cargo and unittest: `test sum::adds ... FAILED`
  /\.\.\. (?:FAIL|FAILED|ERROR)\b/,
  // cargo: `---- sum::adds stdout ----`; pytest: `____ test_adds ____`
  /^-{2,8} \S.{0,200} stdout -{2,8}$/,
  /^_{2,80} \S.{0,200} _{2,80}$/,
  // pytest: `E       assert 1 == 2`
  /^E {2,40}\S/,
  // go test: `    sum_test.go:12: got 1, want 2`
  /^\s{1,20}[\w./-]{1,200}_test\.go:\d{1,7}: /,
  // tsc, rustc, gcc and go: `src/a.ts(1,2): error TS2304: …`, `error[E0308]: …`, `a.c:1:2: error: …`
  /(?:^|[\s:)-])(?:fatal )?error(?: [A-Z]{1,8}\d{1,6}|\[[A-Z]{1,4}\d{1,6}\])?: /,
  /^\s{0,20}[\w./-]{1,200}\.go:\d{1,7}:\d{1,7}: /,
  // eslint: `  1:2  error  'a' is not defined`
  /^\s{1,20}\d{1,7}:\d{1,7}\s{1,8}error\s/,
  // exceptions and panics
  /^\s{0,40}(?:Uncaught |Caused by: |\[)?(?:[A-Za-z_$][\w$]{0,80}\.){0,10}[\w$]{0,80}(?:Error|Exception)(?![\w$])/,
  /^\s{0,20}(?:panic: |thread '[^']{0,200}' .{0,40}panicked at )/,
  /^\s{0,20}assertion .{0,80}failed/i,
  // build tools
  /^(?:make(?:\[\d{1,4}\])?: \*\*\*|npm (?:ERR!|error) )/,
  // summaries: `Tests:  1 failed, 2 total`, `2 failing`, `Found 3 errors in 1 file`
  /(?<![\w.])[1-9]\d{0,6} (?:failed|failing|failures?|errors?)\b/,
];

/** True if a line names a failure of a test, a compiler or a program. */
const namesFailure = (line: string): boolean => FAILING.some((pattern) => pattern.test(line));

/** Returns the first line that names a failure, or an empty string. */
export const firstFailingLine = (output: string): string => cleanLines(output).find(namesFailure)?.trim() ?? '';

interface Stream {
  name: string;
  lines: string[];
  /** The index of the first line of the kept end. */
  tailFrom: number;
  /** Lines before the kept end that are kept too. */
  kept: Set<number>;
}

/**
 * Chooses what a failed command says about its failure: the lines that name failures, with what follows them, and then
 * the end of each stream. Output that fits is returned whole. The result takes at most `maxBytes` inside a JSON request.
 */
export function salientOutput(
  { stdout, stderr }: { stdout: string; stderr: string },
  maxBytes: number = CAP.failedOutputBytes,
): string {
  const streams = [
    { name: 'stdout', lines: cleanLines(stdout) },
    { name: 'stderr', lines: cleanLines(stderr) },
  ].filter(({ lines }) => lines.length > 0);
  const whole = streams
    .map(({ name, lines }) => (streams.length > 1 && name === 'stderr' ? ['[stderr]', ...lines] : lines))
    .flat()
    .join('\n');
  if (encodedBytes(whole) <= maxBytes) return whole;
  return chooseLines(
    streams.map(({ name, lines }) => ({ name, lines, tailFrom: lines.length, kept: new Set<number>() })),
    maxBytes - HEADING_BYTES,
  );
}

function chooseLines(streams: Stream[], maxBytes: number): string {
  let room = maxBytes;
  const take = (line: string): boolean => {
    const cost = lineBytes(line);
    if (cost > room) return false;
    room -= cost;
    return true;
  };
  /** Takes lines from the end of a stream while they fit and leave `leaving` bytes of room. */
  const takeTail = (stream: Stream, leaving: number): void => {
    for (;;) {
      const index = stream.tailFrom - 1;
      const line = stream.lines[index];
      if (line === undefined) return;
      if (!stream.kept.has(index) && (room - lineBytes(line) < leaving || !take(line))) return;
      stream.kept.delete(index);
      stream.tailFrom = index;
    }
  };

  // Half of the room is for the ends, so that failing lines cannot push out the summary that most programs end with.
  const share = Math.floor(maxBytes / 2 / streams.length);
  for (const stream of streams) takeTail(stream, room - share);
  const told = new Set<string>();
  const failing = streams.map((stream) => {
    const found: number[] = [];
    for (const [index, line] of stream.lines.slice(0, stream.tailFrom).entries()) {
      if (told.has(line) || !namesFailure(line) || !take(line)) continue;
      told.add(line);
      stream.kept.add(index);
      found.push(index);
    }
    return found;
  });
  for (const [at, stream] of streams.entries()) {
    for (const start of failing[at] ?? []) keepLinesAfter(stream, start, take);
  }
  for (const stream of streams) takeTail(stream, 0);
  return render(streams);
}

/** Keeps what follows a failing line up to the next one, because it says what was expected and where. */
function keepLinesAfter(stream: Stream, start: number, take: (line: string) => boolean): void {
  for (let index = start + 1; index <= start + LINES_AFTER && index < stream.tailFrom; index += 1) {
    const line = stream.lines[index] ?? '';
    if (stream.kept.has(index) || !take(line)) return;
    stream.kept.add(index);
  }
}

function render(streams: readonly Stream[]): string {
  const failing = streams.flatMap(({ lines, kept }) =>
    withGaps(
      lines,
      [...kept].sort((one, other) => one - other),
    ),
  );
  const ends = streams.flatMap(({ name, lines, tailFrom }) => [`[end of ${name}]`, ...lines.slice(tailFrom)]);
  return [...(failing.length === 0 ? [] : ['[failing lines]', ...failing]), ...ends].join('\n');
}

/** Marks each place where lines are left out. The room for the mark is part of what a line takes. */
const withGaps = (lines: readonly string[], indices: readonly number[]): string[] =>
  indices.flatMap((index, position) => {
    const line = lines[index] ?? '';
    return position > 0 && indices[position - 1] !== index - 1 ? [GAP, line] : [line];
  });

/** What a line takes inside JSON, with its line end and a gap before it. */
const lineBytes = (line: string): number => encodedBytes(line) + encodedBytes(GAP);

/** Splits output into lines without colours, trailing spaces, and more than one empty line in a row. */
function cleanLines(text: string): string[] {
  const lines: string[] = [];
  for (const raw of stripControls(text).split('\n')) {
    const line = shortenLine(raw.trimEnd());
    if (line !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(line);
  }
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function shortenLine(line: string): string {
  if (line.length <= LINE_CHARS) return toWellFormed(line);
  return toWellFormed(`${line.slice(0, LINE_CHARS - 100)}${GAP}${line.slice(-100)}`);
}
