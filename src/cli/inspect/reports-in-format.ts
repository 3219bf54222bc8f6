import type { FileReport } from '../../core/inspect/report.ts';
import { totalOf } from '../../core/inspect/total.ts';
import { describePolicy, markdownText, terminalLines } from './render.ts';
import { htmlText } from './render-html.ts';

/** Writes the reports in the format that the flags ask for. */
export const reportsInFormat = (
  reports: readonly FileReport[],
  mode: string | null,
  flags: { json?: boolean; markdown?: boolean; html?: boolean },
): string => {
  if (flags.json === true) {
    const files = reports.map((report) => ({
      ...report,
      loops: report.loops.map((loop) => ({ ...loop, ...(mode !== null && { would: describePolicy(loop, mode) }) })),
    }));
    return `${JSON.stringify({ files, total: totalOf(reports) })}\n`;
  }
  if (flags.markdown === true) return markdownText(reports, mode);
  if (flags.html === true) return htmlText(reports, mode);
  return `${terminalLines(reports, mode).join('\n')}\n`;
};
