import { cut, oneLine, displayWidth } from './terminal-text.ts';

export interface Column<T> {
  head: string;
  cell: (row: T) => string;
  /** True to align the column to the right, for numbers. */
  right?: boolean;
  /** True if the column may be cut when the terminal is too narrow. */
  flexible?: boolean;
  paint?: (text: string, row: T) => string;
}

const GAP = '  ';
const LEAST = 8;

/** The width of the terminal, or null without one; then nothing is cut. */
export const terminalWidth = (): number | null => (process.stdout.isTTY ? process.stdout.columns || 80 : null);

/** The width for what people read where there is no terminal. */
export const READABLE_WIDTH = 80;

/** Formats a table within a width. The first column is never cut, because people copy ids from it. */
export function table<T>(all: readonly Column<T>[], rows: readonly T[], width: number | null): string[] {
  const natural = (column: Column<T>): number =>
    Math.max(displayWidth(column.head), ...rows.map((row) => displayWidth(oneLine(column.cell(row)))));
  const sized = all.map((column) => ({ column, size: natural(column) }));
  const fitting = width === null ? sized : fitted(sized, width);
  const line = (textOf: (column: Column<T>) => string, row?: T): string =>
    fitting
      .map(({ column, size }, index) => {
        const text = cut(textOf(column), size);
        const room = ' '.repeat(Math.max(0, size - displayWidth(text)));
        const isLast = index === fitting.length - 1;
        const padded = column.right ? room + text : isLast ? text : text + room;
        return row === undefined || column.paint === undefined ? padded : column.paint(padded, row);
      })
      .join(GAP)
      .trimEnd();
  return [line(({ head }) => head), ...rows.map((row) => line((column) => oneLine(column.cell(row)), row))];
}

interface Sized<T> {
  column: Column<T>;
  size: number;
}

/** Shortens flexible columns, the widest first. If that is not enough, leaves out columns from the right. */
function fitted<T>(sized: readonly Sized<T>[], width: number): Sized<T>[] {
  const [first, ...others] = sized.map((entry) => ({ ...entry }));
  if (first === undefined) return [];
  const kept = [first, ...others];
  const total = (): number => kept.reduce((sum, { size }) => sum + size, 0) + GAP.length * (kept.length - 1);
  while (total() > width) {
    const widest = kept
      .slice(1)
      .filter(({ column, size }) => column.flexible && size > LEAST)
      .sort((one, other) => other.size - one.size)[0];
    if (widest !== undefined) widest.size -= 1;
    else if (kept.length > 1) kept.splice(leastNeeded(kept), 1);
    else break;
  }
  return kept;
}

/** The column to leave out next: the last one that is not flexible, otherwise the last. */
function leastNeeded<T>(kept: readonly Sized<T>[]): number {
  const plain = kept.findLastIndex(({ column }, index) => index > 0 && !column.flexible);
  return plain === -1 ? kept.length - 1 : plain;
}

/** Formats pairs of name and value as lines, without empty values. */
export function facts(pairs: readonly (readonly [name: string, value: string | undefined])[]): string[] {
  const known = pairs.filter((pair): pair is readonly [string, string] => Boolean(pair[1]));
  const size = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(size)}${GAP}${oneLine(value)}`);
}
