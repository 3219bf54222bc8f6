import type { TranscriptMessage } from '../../client/views.ts';

export type LineMark = 'same' | 'added' | 'removed';
export interface Line {
  mark: LineMark;
  text: string;
}
/** A message of a prompt, against the prompt before it. */
export interface ComparedMessage {
  role: TranscriptMessage['role'];
  mark: LineMark | 'changed';
  lines: Line[];
}

/** Tables of more cells than this would hold up the page; then only the equal beginning and end are found. */
const MAX_CELLS = 250_000;

/** The text of a message as the model gets it, with its tool calls as JSON. */
const textOf = ({ content, tool_calls = [] }: TranscriptMessage): string =>
  [content, ...tool_calls.map(({ tool, input }) => `calls ${tool} ${JSON.stringify(input)}`)]
    .filter((part) => part !== '')
    .join('\n');

const linesOf = (text: string, mark: LineMark): Line[] => text.split('\n').map((line) => ({ mark, text: line }));

/** Compares two prompts message by message, and a message that changed line by line. */
export function comparePrompts(
  before: readonly TranscriptMessage[],
  after: readonly TranscriptMessage[],
): ComparedMessage[] {
  const key = (message: TranscriptMessage): string => `${message.role}\n${textOf(message)}`;
  const pairs = align(before.map(key), after.map(key));
  const compared: ComparedMessage[] = [];
  for (const { mark, one, other } of pairs) {
    const message = (other === undefined ? before[one ?? 0] : after[other]) as TranscriptMessage;
    const last = compared.at(-1);
    // A removed message that is followed by an added one of the same role is that message, changed.
    if (mark === 'added' && last?.mark === 'removed' && last.role === message.role) {
      const old = last.lines.map(({ text }) => text).join('\n');
      compared[compared.length - 1] = {
        role: message.role,
        mark: 'changed',
        lines: compareLines(old, textOf(message)),
      };
      continue;
    }
    compared.push({ role: message.role, mark, lines: linesOf(textOf(message), mark) });
  }
  return compared;
}

export function compareLines(before: string, after: string): Line[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  return align(old, fresh).map(({ mark, one, other }) => ({
    mark,
    text: (other === undefined ? old[one ?? 0] : fresh[other]) ?? '',
  }));
}

interface Pair {
  mark: LineMark;
  one?: number;
  other?: number;
}

/** Finds the longest common sequence of two lists. */
function align(before: readonly string[], after: readonly string[]): Pair[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const pairs: Pair[] = Array.from({ length: start }, (_, index) => ({ mark: 'same', one: index, other: index }));
  pairs.push(...alignMiddle(before, after, start, end));
  for (let index = end; index > 0; index -= 1)
    pairs.push({ mark: 'same', one: before.length - index, other: after.length - index });
  return pairs;
}

function alignMiddle(before: readonly string[], after: readonly string[], start: number, end: number): Pair[] {
  const rows = before.length - end - start;
  const columns = after.length - end - start;
  const isKnown = rows * columns <= MAX_CELLS;
  const width = columns + 1;
  const common = new Uint32Array(isKnown ? (rows + 1) * width : 0);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = isKnown ? rows - 1 : -1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      common[row * width + column] =
        before[start + row] === after[start + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: Pair[] = [];
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    const isSame = isKnown && row < rows && column < columns && before[start + row] === after[start + column];
    if (isSame) pairs.push({ mark: 'same', one: start + row++, other: start + column++ });
    else if (row < rows && (column === columns || at(row + 1, column) >= at(row, column + 1)))
      pairs.push({ mark: 'removed', one: start + row++ });
    else pairs.push({ mark: 'added', other: start + column++ });
  }
  return pairs;
}
