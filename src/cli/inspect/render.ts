import type { InspectedLoop } from '../../core/inspect/inspected-loop.ts';
import type { FileReport, ReportedLoop, Waste } from '../../core/inspect/report.ts';
import { totalOf } from '../../core/inspect/total.ts';
import { letterOf } from '../../core/strip/strip-marks.ts';
import { count, oneLine } from '../show/terminal-text.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const SHOWN_FAILURES = 5;

/** A file as a strip: one character for about the same number of calls each. */
const STRIP_CELLS = 60;

type Cell = 'fine' | 'suspect' | 'stuck' | 'wasted';

/** How calls from `first` to `last` are shown. */
export const cellOf = (loops: readonly InspectedLoop[], first: number, last: number): Cell => {
  const inside = loops.filter(({ start, end }) => start <= last && end >= first);
  if (inside.some(({ would_stop_at, end }) => would_stop_at !== null && would_stop_at < last && end >= first))
    return 'wasted';
  if (inside.some(({ level }) => level === 'stuck')) return 'stuck';
  return inside.length > 0 ? 'suspect' : 'fine';
};

const cellsOf = ({ calls, loops }: FileReport): Cell[] => {
  const cells = Math.min(STRIP_CELLS, calls);
  return Array.from({ length: cells }, (_, cell) =>
    cellOf(loops, Math.floor((cell * calls) / cells) + 1, Math.floor(((cell + 1) * calls) / cells)),
  );
};

const CELL_TEXT: Record<Cell, string> = { fine: '·', suspect: '?', stuck: '!', wasted: '█' };
const LEGEND =
  'Strips: one character per call or per group of calls; ? suspect, ! stuck, █ after a guard would have stepped in.';

export const wasteLine = ({ calls, share, output_tokens, cost_usd }: Waste): string => {
  const tokens = output_tokens === null ? 'tokens unknown' : `${output_tokens} output tokens`;
  const cost = cost_usd === undefined ? '' : `, ${cost_usd.toFixed(4)} USD`;
  return `${count(calls, 'call')} (${percent(share)}) after that point, ${tokens}${cost}`;
};

export const where = ({ start, end, would_stop_at }: InspectedLoop): string =>
  `calls ${start} to ${end}${would_stop_at === null ? '' : `, a guard steps in after call ${would_stop_at}`}`;

/** What a policy would have done about a loop, for a backtest. */
export const describePolicy = (loop: InspectedLoop, mode: string): string => {
  if (mode === 'observe') return 'this policy would only have logged it';
  if (loop.level === 'suspect' || mode === 'guide') return 'this policy would have shown a hint and stopped nothing';
  return `this policy would have stepped in after call ${loop.would_stop_at ?? loop.end}`;
};

/** One sentence about all files. */
export const totalLine = (reports: readonly FileReport[]): string => {
  const { files, calls, stuck, suspect, wasted_calls, without_calls } = totalOf(reports);
  const wasted = calls === 0 ? '' : `, ${count(wasted_calls, 'call')} wasted (${percent(wasted_calls / calls)})`;
  const empty = without_calls === 0 ? '' : `; ${without_calls} without calls`;
  return `${count(files, 'file')}, ${count(calls, 'call')}: ${stuck} stuck, ${suspect} suspect${wasted}${empty}.`;
};

/**
 * A loop for the terminal: where it was, why it was flagged, some of its calls, and with a policy what that would have
 * done.
 */
export const loopLines = (loop: InspectedLoop & Partial<ReportedLoop>, mode: string | null): string[] => [
  `  ${loop.level}: ${loop.rule}${loop.tool === null ? '' : ` (${oneLine(loop.tool)})`}, ${where(loop)}`,
  `    ${loop.signal} Progress would have been: ${loop.progress}`,
  ...(loop.examples ?? []).map(
    ({ call, tool, input, answer }) =>
      `    call ${call}: ${oneLine(tool)} ${oneLine(input)} → ${oneLine(answer) || '(nothing)'}`,
  ),
  ...(mode === null ? [] : [`    ${describePolicy(loop, mode)}`]),
];

const fileLines = (report: FileReport, mode: string | null): string[] => {
  const { file, format, calls, loops, failures, waste, not_flagged, problems } = report;
  const strip = cellsOf(report).map((cell) => CELL_TEXT[cell]);
  return [
    `${oneLine(file)}: ${format}, ${count(calls, 'call')}`,
    ...(calls > 0 ? [`  ${strip.join('')}`] : []),
    ...(calls > 0 && loops.length === 0 ? ['  not stuck'] : []),
    ...loops.flatMap((loop) => loopLines(loop, mode)),
    ...(loops.some(({ level }) => level === 'stuck') ? [`  wasted: ${wasteLine(waste)}`] : []),
    ...failures
      .slice(0, SHOWN_FAILURES)
      .map((failure) => `  failed ${failure.count}×: ${oneLine(failure.tool)} ${oneLine(failure.example)}`),
    ...not_flagged.map(({ tool, count: used, why }) => `  not flagged: ${oneLine(tool)}, ${used} calls, ${why}`),
    ...problems.map((problem) => `  note: ${describeProblem(problem)}`),
  ];
};

/** The number stands after the text, so that it fits one and many. */
export const describeProblem = ({ problem, count: times }: { problem: string; count: number }): string =>
  `${problem}: ${times}`;

/** In a report about many files, those without calls are counted and not listed. */
const isShown =
  (reports: readonly FileReport[]) =>
  ({ calls }: FileReport): boolean =>
    calls > 0 || reports.length <= 5;

export const terminalLines = (reports: readonly FileReport[], mode: string | null): string[] => [
  ...reports.filter(isShown(reports)).flatMap((report) => fileLines(report, mode)),
  ...(reports.some(({ loops }) => loops.length > 0) ? [LEGEND] : []),
  ...(reports.length > 1 ? [totalLine(reports)] : []),
];

/** Text in a cell of a Markdown table. */
const cell = (text: string): string =>
  oneLine(text).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('`', "'");

const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;

const loopTable = (loops: readonly ReportedLoop[], mode: string | null): string[] => [
  row('level', 'rule', 'tool', 'where', 'signal', 'calls'),
  row('---', '---', '---', '---', '---', '---'),
  ...loops.map((loop) => {
    const policy = mode === null ? '' : `; ${describePolicy(loop, mode)}`;
    const shown = loop.examples.map(({ call, input, answer }) => `${call}: ${cell(input)} → ${cell(answer)}`);
    return row(loop.level, loop.rule, cell(loop.tool ?? ''), where(loop) + policy, cell(loop.signal), shown.join('; '));
  }),
  '',
];

export const markdownText = (reports: readonly FileReport[], mode: string | null): string =>
  [
    '# Inspected transcripts',
    '',
    totalLine(reports),
    '',
    ...reports
      .filter(isShown(reports))
      .flatMap(({ file, format, calls, loops, failures, waste, ...report }) => [
        `## ${cell(file)}`,
        '',
        `Format ${format}, ${count(calls, 'call')}. ${loops.some(({ level }) => level === 'stuck') ? `Stuck: ${wasteLine(waste)}.` : 'Not stuck.'}`,
        '',
        ...(loops.length > 0 ? loopTable(loops, mode) : []),
        ...(failures.length > 0
          ? [
              row('', 'failures', 'tool', 'example', 'fingerprint'),
              row('---', '---', '---', '---', '---'),
              ...failures
                .slice(0, 20)
                .map((one, at) =>
                  row(letterOf(at), String(one.count), cell(one.tool), cell(one.example), cell(one.fingerprint)),
                ),
              '',
            ]
          : []),
        ...report.not_flagged.map(
          ({ tool, count: used, why }) => `- Not flagged: ${cell(tool)}, ${used} calls, ${why}.`,
        ),
        ...report.problems.map((problem) => `- Note: ${describeProblem(problem)}.`),
        '',
      ]),
  ].join('\n');
