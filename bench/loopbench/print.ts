import type { Alarms } from './detectors.ts';
import type { Transcript } from './read-corpus.ts';
import { type Score, scoreAlarms, type Share } from './score.ts';

export interface Row {
  name: string;
  score: Score;
}

const two = (value: number): string => value.toFixed(2);
const withInterval = ({ count, of, share, low, high }: Share): string =>
  `${count}/${of} = ${two(share)} (${two(low)}–${two(high)})`;

const printRows = (heading: readonly string[], rows: readonly (readonly string[])[]): void => {
  const widths = heading.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  console.log(line(heading));
  console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  for (const row of rows) console.log(line(row));
};

/** Prints one line for each detector, as Markdown. Intervals are at 95 %. */
export const printTable = (rows: readonly Row[]): void => {
  printRows(
    ['detector', 'recall', 'false alarms', 'steps saved of those wasted', 'median delay', 'in the range', 'early'],
    rows.map(({ name, score }) => [
      name,
      withInterval(score.recall),
      withInterval(score.falseAlarms),
      `${score.saved.count}/${score.saved.of} = ${two(score.saved.share)}`,
      String(score.medianDelay),
      `${score.inRange.count}/${score.inRange.of}`,
      String(score.early),
    ]),
  );
};

/** Prints the recall and the false alarms of the detector for each kind of being stuck and each format. */
export const printGroups = (transcripts: readonly Transcript[], alarms: readonly Alarms[]): void => {
  const group = (title: string, keyOf: (transcript: Transcript) => string): void => {
    console.log('');
    const keys = [...new Set(transcripts.map(keyOf))].toSorted();
    printRows(
      [title, 'stuck recall', 'suspect recall', 'stuck false alarms', 'suspect false alarms'],
      keys.map((key) => {
        const isIn = (_item: unknown, at: number): boolean => {
          const transcript = transcripts[at];
          return transcript !== undefined && keyOf(transcript) === key;
        };
        const some = transcripts.filter(isIn);
        const theirs = alarms.filter(isIn);
        const [stuck, suspect] = [scoreAlarms(some, theirs, 'stuck'), scoreAlarms(some, theirs, 'suspect')];
        const plain = ({ count, of }: Share): string => (of === 0 ? '–' : `${count}/${of}`);
        return [key, plain(stuck.recall), plain(suspect.recall), plain(stuck.falseAlarms), plain(suspect.falseAlarms)];
      }),
    );
  };
  group('kind', ({ label }) => label.kind);
  group('format', ({ format }) => format);
};
