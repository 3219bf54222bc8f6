import { createReadStream } from 'node:fs';
import type { LoopPolicy } from '../../core/failures/loop-watch.ts';
import { CallCollector } from '../../core/inspect/collect-calls.ts';
import type { Format } from '../../core/inspect/events.ts';
import { createReadingState, mainFormat, readRecord } from '../../core/inspect/read-record.ts';
import { type FileReport, reportFile } from '../../core/inspect/report.ts';
import { splitRecords, type SplitProblems } from './split-json.ts';

const CHUNK_BYTES = 256 * 1024;

/** Reads one transcript as a stream and reports on it. What cannot be read is counted, named and skipped. */
export const inspectFile = async (file: string, policy: LoopPolicy, usdPerMillion?: number): Promise<FileReport> => {
  const chunks: AsyncIterable<string> =
    file === '-'
      ? process.stdin.setEncoding('utf8')
      : createReadStream(file, { encoding: 'utf8', highWaterMark: CHUNK_BYTES });
  return inspectStream(file, chunks, policy, usdPerMillion);
};

export const inspectStream = async (
  file: string,
  chunks: AsyncIterable<string>,
  policy: LoopPolicy,
  usdPerMillion?: number,
): Promise<FileReport> => {
  const collector = new CallCollector(policy);
  const reading = createReadingState();
  const formats = new Map<Format, number>();
  const problems: SplitProblems = { tooLong: 0, cut: 0 };
  let broken = 0;
  let unknown = 0;
  for await (const { text, list } of splitRecords(chunks, problems)) {
    const value = parse(text);
    if (value === undefined) {
      broken += 1;
      continue;
    }
    const found = readRecord(value, list, reading);
    // A document has other lists too, such as the costs of each turn. Only records of a recognized list can be unknown.
    if (list === null) unknown += found.unknown;
    for (const { format, events } of found.read) {
      formats.set(format, (formats.get(format) ?? 0) + Math.max(1, events.length));
      for (const event of events) collector.add(event);
    }
  }
  collector.end();
  const named = [
    { problem: 'records longer than 16 MB, skipped', count: problems.tooLong },
    { problem: 'the file ends inside a record', count: problems.cut },
    { problem: 'records that are not JSON, skipped', count: broken },
    { problem: 'records of an unknown shape, skipped', count: unknown },
    { problem: 'calls without a result', count: collector.unanswered },
  ].filter(({ count }) => count > 0);
  return reportFile(file, mainFormat(formats), collector, named, usdPerMillion);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
