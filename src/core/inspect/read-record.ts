import { contentText, type Fields, type Format, isFields, type ReadRecord, type RecordReader } from './events.ts';
import {
  readClaudeCode,
  readCodex,
  readMiniMessage,
  readOpenHands,
  readPi,
  readSweAgent,
} from './read-coding-agents.ts';
import {
  readAiSdk,
  readLangChain,
  readMagenticOne,
  readOpenAiChat,
  readOpenAiResponses,
  readSecondwind,
} from './read-messages.ts';
import { readSpans } from './read-spans.ts';

/** In this order, because some shapes contain others: a message of OpenAI is the most general one. */
const READERS: readonly RecordReader[] = [
  readSecondwind,
  readClaudeCode,
  readCodex,
  readPi,
  readSpans,
  readSweAgent,
  readOpenHands,
  readMagenticOne,
  readAiSdk,
  readOpenAiResponses,
  readLangChain,
  readOpenAiChat,
];

/** Lists that a document has its records in. SWE-agent's `history` repeats its `trajectory` and is left out there. */
export const RECORD_LISTS = [
  'trajectory',
  'history',
  'messages',
  'steps',
  'spans',
  'resourceSpans',
  'traj',
  'transcript',
  'events',
  'items',
  'input',
  'output',
  'response',
  'values',
] as const;

/** What has been recognized so far in a file. It decides what later records can be. */
export interface ReadingState {
  isMini: boolean;
  hasTrajectory: boolean;
}
export const createReadingState = (): ReadingState => ({ isMini: false, hasTrajectory: false });

const DEPTH = 4;

/**
 * Reads one record: a line, an element of a list, or a small document with such a list inside. Returns what was
 * recognized, in order, and the number of records that were not.
 */
export const readRecord = (
  value: unknown,
  list: string | null,
  state: ReadingState,
  depth = 0,
): { read: ReadRecord[]; unknown: number } => {
  if (Array.isArray(value)) return readList(value, list, state, depth);
  if (!isFields(value)) return { read: [], unknown: 1 };
  if (list === 'trajectory') state.hasTrajectory = true;
  if (list === 'history' && state.hasTrajectory) return { read: [], unknown: 0 };
  const mini = readMini(value, state);
  if (mini !== null) return { read: [mini], unknown: 0 };
  for (const reader of READERS) {
    const read = reader(value, list);
    if (read !== null) return { read: [read], unknown: 0 };
  }
  return readInside(value, state, depth);
};

const readMini = (value: Fields, state: ReadingState): ReadRecord | null => {
  const read = readMiniMessage(value);
  if (read !== null && (read.isCertain || state.isMini)) {
    state.isMini = true;
    return { format: 'mini-swe-agent', events: read.events };
  }
  // The result of the last command may be an empty message.
  if (state.isMini && value['role'] === 'user') {
    return {
      format: 'mini-swe-agent',
      events: [{ type: 'result', id: null, output: contentText(value['content'] ?? '') }],
    };
  }
  return null;
};

const readList = (values: readonly unknown[], list: string | null, state: ReadingState, depth: number) => {
  const parts = values.map((value) => readRecord(value, list, state, depth + 1));
  return { read: parts.flatMap(({ read }) => read), unknown: parts.reduce((sum, { unknown }) => sum + unknown, 0) };
};

/** A document inside a record: its lists of records are read in the order of `RECORD_LISTS`. */
const readInside = (value: Fields, state: ReadingState, depth: number): { read: ReadRecord[]; unknown: number } => {
  if (depth >= DEPTH) return { read: [], unknown: 1 };
  const found = RECORD_LISTS.flatMap((name) => {
    const inner = value[name];
    if (Array.isArray(inner) && inner.length > 0) return [readList(inner, name, state, depth + 1)];
    return isFields(inner) ? [readInside(inner, state, depth + 1)] : [];
  });
  const read = found.flatMap((part) => part.read);
  return read.length > 0 ? { read, unknown: found.reduce((sum, part) => sum + part.unknown, 0) } : { read, unknown: 1 };
};

/** The format that most records have. */
export const mainFormat = (counts: ReadonlyMap<Format, number>): Format | 'unknown' =>
  [...counts].toSorted((one, other) => other[1] - one[1])[0]?.[0] ?? 'unknown';
