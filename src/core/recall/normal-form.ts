import { sha256Hex } from '../../protocol/ids.ts';
import { normaliseMessage } from '../failures/normalise-message.ts';

const HASH_CHARS = 16;
/** A number after one of these words says what went wrong, so it stays: `status code 404`, `exit code 2`. */
const NUMBER =
  /(?<says>(?:code|status|errno|exit|signal|http|version)[ :=#]{1,3})?(?<![\p{L}\p{N}_])\p{N}[\p{N}.,_]*/gu;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}#<>]+/gu;

/**
 * The message without what differs between two occurrences: letter case, punctuation, folders, ids, times and numbers. The
 * fingerprint is stricter: it keeps numbers that are no ids.
 */
export function normalForm(text: string): string {
  const message = normaliseMessage(text).normalize('NFKC').toLowerCase();
  return message
    .replace(NUMBER, (number, says: string | undefined) => (says === undefined ? '#' : number))
    .replace(BETWEEN_WORDS, ' ')
    .trim();
}

/** Identifies texts with the same normal form. Null for a text without a word, which is not like any other text. */
export function normalHash(text: string): string | null {
  const normal = normalForm(text);
  return /\p{L}/u.test(normal) ? sha256Hex(normal).slice(0, HASH_CHARS) : null;
}
