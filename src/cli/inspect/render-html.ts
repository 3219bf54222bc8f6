import type { FileReport, ReportedLoop } from '../../core/inspect/report.ts';
import { letterOf, SHADES, shadeOf, stripSize, symbolOf } from '../../core/strip/strip-marks.ts';
import { count } from '../show/terminal-text.ts';
import { cellOf, describePolicy, describeProblem, totalLine, wasteLine, where } from './render.ts';

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const STYLE = `
:root{color-scheme:light dark;${SHADES.map(([light, dark], at) => `--shade-${at}:light-dark(${light},${dark});`).join('')}
--ground:light-dark(#fff,#161b24);--text:light-dark(#171b24,#e9edf4);--line:light-dark(#d9dde5,#2b3341);
--good:light-dark(#14713c,#6fd598);--warn:light-dark(#8a5300,#f2bd62);--bad:light-dark(#b3261e,#ff9a92)}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:var(--text);background:var(--ground)}
h2{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid var(--line);padding:.3rem .6rem .3rem .2rem;text-align:left;vertical-align:top}
td:last-child{overflow-wrap:anywhere;width:60%}
.strip{display:flex;flex-wrap:wrap;gap:9px 3px;margin:.5rem 0 1rem}
.mark{display:inline-grid;place-items:center;min-width:22px;height:22px;border:2px solid var(--good);border-radius:5px;color:var(--good);font:650 12px/1 system-ui,sans-serif}
.none{border-color:var(--line);color:var(--text)}
.failed{border-color:transparent;color:var(--ground)}
${SHADES.map((_, at) => `.shade-${at}{background:var(--shade-${at})}`).join('')}
.suspect{box-shadow:0 3px var(--ground),0 5px var(--line)}.stuck{box-shadow:0 3px var(--ground),0 6px var(--warn)}.wasted{box-shadow:0 3px var(--ground),0 6px var(--bad)}
.small .mark{min-width:9px;width:9px;font-size:0}.dense{column-gap:0}.dense .mark{min-width:3px;width:3px;border:0;font-size:0;border-radius:0}
.dense .mark:not(.failed){background:color-mix(in srgb,var(--good) 25%,transparent)}
.key{display:inline-grid;margin-right:.3rem}
ol{margin:.2rem 0;padding-left:1.2rem}
code{overflow-wrap:anywhere}`;

const CELL_WORDS = {
  fine: '',
  suspect: ', suspect',
  stuck: ', stuck',
  wasted: ', after a guard would have stepped in',
};

/** One square per call, as on the page of a run: a letter and a shade for each failure. A line below marks loops. */
const stripHtml = ({ strip, loops, failures, calls }: FileReport): string => {
  if (strip === null) return '<p>The transcript is too long for a strip.</p>';
  const indexOf = new Map(failures.map((_, at) => [letterOf(at), at]));
  const squares = Array.from(strip).map((char, at) => {
    const index = indexOf.get(char);
    const isFailed = char === '*' || index !== undefined;
    const loop = cellOf(loops, at + 1, at + 1);
    const outcome = isFailed ? 'failed' : char === '.' ? 'ok' : 'running';
    const said = outcome === 'ok' ? 'did not fail' : outcome === 'running' ? 'has no result' : `failed as ${char}`;
    const title = `Call ${at + 1} ${said}${CELL_WORDS[loop]}`;
    const look = isFailed ? `failed shade-${shadeOf(index ?? 0)}` : char === '.' ? 'ok' : 'none';
    return `<span class="mark ${look} ${loop}" title="${title}">${symbolOf(outcome, char === '*' ? undefined : char)}</span>`;
  });
  const label = `${count(calls, 'call')}, one square each`;
  return `<div class="strip ${stripSize(calls)}" role="img" aria-label="${label}">${squares.join('')}</div>`;
};

const loopRow = (loop: ReportedLoop, mode: string | null): string => {
  const policy = mode === null ? '' : ` (${describePolicy(loop, mode)})`;
  const shown = loop.examples.map(
    ({ call, input, answer }) =>
      `<li value="${call}"><code>${escape(input)}</code> → ${escape(answer || '(nothing)')}</li>`,
  );
  const calls = shown.length === 0 ? '' : `<ol>${shown.join('')}</ol>`;
  return `<tr><td>${loop.level}</td><td>${escape(loop.rule)}</td><td>${escape(loop.tool ?? '')}</td><td>${where(loop)}</td><td>${escape(loop.signal)} Progress would have been: ${escape(loop.progress)}${policy}${calls}</td></tr>`;
};

const LOOP_HEAD = '<tr><th>level</th><th>rule</th><th>tool</th><th>where</th><th>what was seen</th></tr>';
const FAILURE_HEAD = '<tr><th></th><th>failures</th><th>tool</th><th>example</th></tr>';

const fileHtml = (report: FileReport, mode: string | null): string => {
  const { file, format, calls, loops, failures, waste, not_flagged, problems } = report;
  const failureRows = failures.slice(0, 20).map((failure, at) => {
    const key = `<span class="mark key failed shade-${shadeOf(at)}">${letterOf(at)}</span>`;
    return `<tr><td>${key}</td><td>${failure.count}</td><td>${escape(failure.tool)}</td><td>${escape(failure.example)}</td></tr>`;
  });
  return [
    `<section><h2>${escape(file)}</h2><p>Format ${escape(format)}, ${count(calls, 'call')}.</p>${calls > 0 ? stripHtml(report) : ''}`,
    loops.length === 0
      ? '<p>Not stuck.</p>'
      : `<table>${LOOP_HEAD}${loops.map((loop) => loopRow(loop, mode)).join('')}</table>`,
    loops.some(({ level }) => level === 'stuck') ? `<p>Wasted: ${wasteLine(waste)}.</p>` : '',
    failures.length === 0 ? '' : `<table>${FAILURE_HEAD}${failureRows.join('')}</table>`,
    ...not_flagged.map(({ tool, count: used, why }) => `<p>Not flagged: ${escape(tool)}, ${used} calls, ${why}.</p>`),
    ...problems.map((problem) => `<p>Note: ${describeProblem(problem)}.</p>`),
    '</section>',
  ].join('');
};

/** One file without scripts and without anything from elsewhere. */
export const htmlText = (reports: readonly FileReport[], mode: string | null): string =>
  [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    `<title>Inspected transcripts</title><style>${STYLE}</style>`,
    `<h1>Inspected transcripts</h1><p>${totalLine(reports)}</p>`,
    '<p>A square is a call: ✓ it did not fail, a letter names a failure. The line below a square: grey, the agent is suspected of a loop; brown, it is stuck; red, after a guard would have stepped in.</p>',
    ...reports.filter(({ calls }) => calls > 0 || reports.length <= 5).map((report) => fileHtml(report, mode)),
    '</html>\n',
  ].join('\n');
