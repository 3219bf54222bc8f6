import { cut, oneLine, widthOf } from './text.ts';

export interface Column<T> {
  head: string;
  cell: (row: T) => string;
  /** Figures stand at the right. */
  right?: boolean;
  /** May be cut when the terminal is too narrow for all columns. */
  flexible?: boolean;
  paint?: (text: string, row: T) => string;
}

const GAP = '  ';
const LEAST = 8;

/** How wide the terminal is; null when nobody looks at one, and then nothing is cut. */
export const terminalWidth = (): number | null => (process.stdout.isTTY ? process.stdout.columns || 80 : null);

/** Rows under their heads, within the width. The first column names the row and is never cut: people copy it. */
export function table<T>(all: readonly Column<T>[], rows: readonly T[], width: number | null): string[] {
  const natural = (column: Column<T>): number =>
    Math.max(widthOf(column.head), ...rows.map((row) => widthOf(oneLine(column.cell(row)))));
  const sized = all.map((column) => ({ column, size: natural(column) }));
  const fitting = width === null ? sized : fitted(sized, width);
  const line = (textOf: (column: Column<T>) => string, row?: T): string =>
    fitting
      .map(({ column, size }, index) => {
        const text = cut(textOf(column), size);
        const room = ' '.repeat(Math.max(0, size - widthOf(text)));
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

/** Texts give what is missing, the widest first; where that is not enough, columns are left out from the right. */
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

/** The last column that is no text, else the last. */
function leastNeeded<T>(kept: readonly Sized<T>[]): number {
  const plain = kept.findLastIndex(({ column }, index) => index > 0 && !column.flexible);
  return plain === -1 ? kept.length - 1 : plain;
}

/** Names and values below each other; what is empty is left out. */
export function facts(pairs: readonly (readonly [name: string, value: string | undefined])[]): string[] {
  const known = pairs.filter((pair): pair is readonly [string, string] => Boolean(pair[1]));
  const size = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(size)}${GAP}${oneLine(value)}`);
}
