import { StoreInputError } from './store-errors.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** An opaque cursor. It contains the sort key of the last row, so that every page costs the same. */
const encodeCursor = (key: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url');

export const decodeCursor = (cursor: string): (string | number)[] => {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(key) && key.every((part) => typeof part === 'string' || typeof part === 'number')) return key;
  } catch {
    // Every invalid cursor gets the same error below.
  }
  throw new StoreInputError('cursor', 'not a cursor of this list');
};

/** Decodes a cursor whose key is a time and an id. */
export const decodeTimeCursor = (cursor: string): { at: string; id: string } => {
  const [at, id] = decodeCursor(cursor);
  if (typeof at !== 'string' || typeof id !== 'string' || Number.isNaN(Date.parse(at))) {
    throw new StoreInputError('cursor', 'not a cursor of this list');
  }
  return { at, id };
};

export const pageSize = (limit: number | undefined): number =>
  Math.min(MAX_PAGE, Math.max(1, Math.trunc(limit ?? DEFAULT_PAGE)));

/** Builds a page from one row more than asked for, which tells whether there is a next page. */
export const buildPage = <Row, Item>(
  rows: readonly Row[],
  size: number,
  toItem: (row: Row) => Item,
  keyOf: (row: Row) => readonly (string | number)[],
): Page<Item> => {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    next_cursor: rows.length > size && last !== undefined ? encodeCursor(keyOf(last)) : null,
  };
};
