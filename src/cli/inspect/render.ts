import type { InspectedLoop } from '../../core/inspect/inspected-loop.ts';
import type { FileReport, Waste } from '../../core/inspect/report.ts';
import { oneLine } from '../show/terminal-text.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const SHOWN_FAILURES = 5;

/** A file as a strip: one character for about the same number of calls each. */
const STRIP_CELLS = 60;

type Cell = 'fine' | 'suspect' | 'stuck' | 'wasted';

const cellsOf = ({ calls, loops }: FileReport): Cell[] => {
  const count = Math.min(STRIP_CELLS, calls);
  return Array.from({ length: count }, (_, cell) => {
    const first = Math.floor((cell * calls) / count) + 1;
    const last = Math.floor(((cell + 1) * calls) / count);
    const inside = loops.filter(({ start, end }) => start <= last && end >= first);
    if (inside.some(({ would_stop_at, end }) => would_stop_at !== null && would_stop_at < last && end >= first))
      return 'wasted';
    if (inside.some(({ level }) => level === 'stuck')) return 'stuck';
    return inside.length > 0 ? 'suspect' : 'fine';
  });
};

const CELL_TEXT: Record<Cell, string> = { fine: '·', suspect: '?', stuck: '!', wasted: '█' };

const wasteLine = ({ calls, share, output_tokens, cost_usd }: Waste): string => {
  const tokens = output_tokens === null ? 'tokens unknown' : `${output_tokens} output tokens`;
  const cost = cost_usd === undefined ? '' : `, ${cost_usd.toFixed(4)} USD`;
  return `${calls} calls (${percent(share)}) after that point, ${tokens}${cost}`;
};

const where = ({ start, end, would_stop_at }: InspectedLoop): string =>
  `calls ${start} to ${end}${would_stop_at === null ? '' : `, a guard steps in after call ${would_stop_at}`}`;

/** What a policy would have done about a loop, for a backtest. */
export const describePolicy = (loop: InspectedLoop, mode: string): string => {
  if (mode === 'observe') return 'this policy would only have logged it';
  if (loop.level === 'suspect' || mode === 'guide') return 'this policy would have shown a hint and stopped nothing';
  return `this policy would have stepped in after call ${loop.would_stop_at ?? loop.end}`;
};

/** A loop for the terminal: where it was, why it was flagged, and with a policy what that would have done. */
export const loopLines = (loop: InspectedLoop, mode: string | null): string[] => [
  `  ${loop.level}: ${loop.rule}${loop.tool === null ? '' : ` (${oneLine(loop.tool)})`}, ${where(loop)}`,
  `    ${loop.signal} Progress would have been: ${loop.progress}`,
  ...(mode === null ? [] : [`    ${describePolicy(loop, mode)}`]),
];

export const terminalLines = (reports: readonly FileReport[], mode: string | null): string[] =>
  reports.flatMap((report) => {
    const { file, format, calls, loops, failures, waste, not_flagged, problems } = report;
    return [
      `${oneLine(file)}: ${format}, ${calls} calls`,
      ...(calls > 0
        ? [
            `  ${cellsOf(report)
              .map((cell) => CELL_TEXT[cell])
              .join('')}`,
          ]
        : []),
      ...(calls > 0 && loops.length === 0 ? ['  not stuck'] : []),
      ...loops.flatMap((loop) => loopLines(loop, mode)),
      ...(loops.some(({ level }) => level === 'stuck') ? [`  wasted: ${wasteLine(waste)}`] : []),
      ...failures
        .slice(0, SHOWN_FAILURES)
        .map(({ count, tool, example }) => `  failed ${count}×: ${oneLine(tool)} ${oneLine(example)}`),
      ...not_flagged.map(({ tool, count, why }) => `  not flagged: ${oneLine(tool)}, ${count} calls, ${why}`),
      ...problems.map(({ problem, count }) => `  note: ${count} ${problem}`),
    ];
  });

/** Text in a cell of a Markdown table. */
const cell = (text: string): string =>
  oneLine(text).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('`', "'");

export const markdownText = (reports: readonly FileReport[], mode: string | null): string =>
  [
    '# Inspected transcripts',
    '',
    ...reports.flatMap((report) => [
      `## ${cell(report.file)}`,
      '',
      `Format ${report.format}, ${report.calls} calls. ${report.loops.some(({ level }) => level === 'stuck') ? `Stuck: ${wasteLine(report.waste)}.` : 'Not stuck.'}`,
      '',
      ...(report.loops.length > 0
        ? [
            '| level | rule | tool | where | signal |',
            '| --- | --- | --- | --- | --- |',
            ...report.loops.map(
              (loop) =>
                `| ${loop.level} | ${loop.rule} | ${cell(loop.tool ?? '')} | ${where(loop)}${mode === null ? '' : `; ${describePolicy(loop, mode)}`} | ${cell(loop.signal)} |`,
            ),
            '',
          ]
        : []),
      ...(report.failures.length > 0
        ? [
            '| failures | tool | example | fingerprint |',
            '| --- | --- | --- | --- |',
            ...report.failures
              .slice(0, 20)
              .map(
                ({ count, tool, example, fingerprint }) =>
                  `| ${count} | ${cell(tool)} | ${cell(example)} | ${cell(fingerprint)} |`,
              ),
            '',
          ]
        : []),
      ...report.not_flagged.map(({ tool, count, why }) => `- Not flagged: ${cell(tool)}, ${count} calls, ${why}.`),
      ...report.problems.map(({ problem, count }) => `- Note: ${count} ${problem}.`),
      '',
    ]),
  ].join('\n');

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const COLOUR: Record<Cell, string> = { fine: '#cfd8dc', suspect: '#f4c95d', stuck: '#e07a3f', wasted: '#b3261e' };

const stripSvg = (report: FileReport): string => {
  const cells = cellsOf(report);
  const rects = cells.map((kind, at) => `<rect x="${at * 10}" width="9" height="24" fill="${COLOUR[kind]}"/>`);
  return `<svg viewBox="0 0 ${Math.max(1, cells.length) * 10} 24" height="24" role="img" aria-label="Calls from first to last: grey is fine, yellow suspect, orange stuck, red after a guard would have stepped in">${rects.join('')}</svg>`;
};

/** One file without scripts and without anything from elsewhere. */
export const htmlText = (reports: readonly FileReport[], mode: string | null): string =>
  [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    '<title>Inspected transcripts</title><style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ddd;padding:.3rem;text-align:left;vertical-align:top}svg{max-width:100%}</style>',
    '<h1>Inspected transcripts</h1>',
    ...reports.map((report) =>
      [
        `<section><h2>${escape(report.file)}</h2><p>Format ${escape(report.format)}, ${report.calls} calls.</p>${stripSvg(report)}`,
        report.loops.length === 0
          ? '<p>Not stuck.</p>'
          : `<table><tr><th>level</th><th>rule</th><th>tool</th><th>where</th><th>what was seen</th></tr>${report.loops
              .map(
                (loop) =>
                  `<tr><td>${loop.level}</td><td>${escape(loop.rule)}</td><td>${escape(loop.tool ?? '')}</td><td>${where(loop)}</td><td>${escape(loop.signal)} Progress would have been: ${escape(loop.progress)}${mode === null ? '' : ` (${describePolicy(loop, mode)})`}</td></tr>`,
              )
              .join('')}</table>`,
        report.loops.some(({ level }) => level === 'stuck') ? `<p>Wasted: ${wasteLine(report.waste)}.</p>` : '',
        report.failures.length === 0
          ? ''
          : `<table><tr><th>failures</th><th>tool</th><th>example</th></tr>${report.failures
              .slice(0, 20)
              .map(
                ({ count, tool, example }) =>
                  `<tr><td>${count}</td><td>${escape(tool)}</td><td>${escape(example)}</td></tr>`,
              )
              .join('')}</table>`,
        ...report.not_flagged.map(
          ({ tool, count, why }) => `<p>Not flagged: ${escape(tool)}, ${count} calls, ${why}.</p>`,
        ),
        ...report.problems.map(({ problem, count }) => `<p>Note: ${count} ${problem}.</p>`),
        '</section>',
      ].join(''),
    ),
    '</html>\n',
  ].join('\n');
