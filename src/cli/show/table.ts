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

/** Rows under their heads, within the width. */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[], width: number | null): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const natural = columns.map((column, index) =>
    Math.max(widthOf(column.head), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = width === null ? natural : fitted(columns, natural, width);
  const line = (texts: readonly string[], row?: T): string =>
    columns
      .map((column, index) => {
        const size = widths[index] ?? 0;
        const text = cut(texts[index] ?? '', size);
        const room = ' '.repeat(Math.max(0, size - widthOf(text)));
        const isLast = index === columns.length - 1;
        const padded = column.right ? room + text : isLast ? text : text + room;
        return row === undefined || column.paint === undefined ? padded : column.paint(padded, row);
      })
      .join(GAP)
      .trimEnd();
  const heads = line(columns.map((column) => column.head));
  return [heads, ...rows.map((row, index) => line(cells[index] ?? [], row))];
}

/** Flexible columns give what is missing, the widest first; where that is not enough, the last columns go short. */
function fitted<T>(columns: readonly Column<T>[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, size) => sum + size, 0) + GAP.length * (widths.length - 1);
  const shrink = (indexes: readonly number[], least: number): void => {
    while (total() > width) {
      const widest = [...indexes].sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))[0];
      if (widest === undefined || (widths[widest] ?? 0) <= least) return;
      widths[widest] = (widths[widest] ?? 0) - 1;
    }
  };
  const all = columns.map((_column, index) => index);
  shrink(
    all.filter((index) => columns[index]?.flexible),
    LEAST,
  );
  shrink(all, 1);
  return widths;
}

/** Names and values below each other; what is empty is left out. */
export function facts(pairs: readonly (readonly [name: string, value: string | undefined])[]): string[] {
  const known = pairs.filter((pair): pair is readonly [string, string] => Boolean(pair[1]));
  const size = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(size)}${GAP}${oneLine(value)}`);
}
