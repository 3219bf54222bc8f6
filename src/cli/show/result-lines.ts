import type { Json } from '../../protocol/json.ts';
import { safeLines, wrap } from './terminal-text.ts';

/** What a terminal shows of a result, in lines. */
const RESULT_LINES = 40;

/** The output of a run as JSON for people. On a terminal a long one is cut, and the last line says how to get the whole. */
export function resultLines(runId: string, output: Json, width: number | null): string[] {
  const text = JSON.stringify(output, null, 2);
  if (width === null) return [text];
  const lines = safeLines(text)
    .split('\n')
    .flatMap((line) => wrap(line, width));
  if (lines.length <= RESULT_LINES) return lines;
  const left = lines.length - RESULT_LINES;
  return [
    ...lines.slice(0, RESULT_LINES),
    ...wrap(`… ${left} more lines. The whole result: secondwind status ${runId} --json`, width),
  ];
}
