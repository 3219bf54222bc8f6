import { sha256Hex } from '../../protocol/ids.ts';
import { badCursor } from './visibility.ts';

/** Where a list goes on: with the server's own token, or in the archive. */
export type ListCursor =
  | { from: 'temporal'; token: Uint8Array | null }
  | { from: 'archive'; cursor?: string | undefined; endedBefore?: string | undefined };

const SEAL_CHARS = 8;

/**
 * A cursor carries a check over itself and its list: the server answers a token that it did not make as if it were broken
 * itself, again and again, so whatever is not a cursor of this list must not get that far.
 */
const sealed = (kind: string, bytes: Uint8Array, list: string): string => {
  const text = Buffer.from(bytes).toString('base64url');
  return kind + sealOf(kind, text, list) + text;
};
const sealOf = (kind: string, text: string, list: string): string =>
  sha256Hex(JSON.stringify([kind, text, list])).slice(0, SEAL_CHARS);

export function writeCursor(cursor: ListCursor, list: string): string {
  if (cursor.from === 'temporal') return sealed('t', cursor.token ?? new Uint8Array(), list);
  return sealed('a', Buffer.from(JSON.stringify([cursor.cursor ?? null, cursor.endedBefore ?? null])), list);
}

/** `list` names the list with its filters: one list's cursor is none of another's. */
export function readCursor(given: string | undefined, list: string): ListCursor {
  if (given === undefined) return { from: 'temporal', token: null };
  const [kind, seal, text] = [given.slice(0, 1), given.slice(1, 1 + SEAL_CHARS), given.slice(1 + SEAL_CHARS)];
  if (seal !== sealOf(kind, text, list)) throw badCursor();
  const bytes = Buffer.from(text, 'base64url');
  if (kind === 't') return { from: 'temporal', token: bytes };
  const [cursor, endedBefore] = JSON.parse(bytes.toString('utf8')) as [string | null, string | null];
  return { from: 'archive', cursor: cursor ?? undefined, endedBefore: endedBefore ?? undefined };
}
