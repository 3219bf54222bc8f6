import { sha256Hex } from '../../protocol/ids.ts';
import { trimWhiteSpace } from './text.ts';

const SIGNATURE_CHARS = 16;

/**
 * Names an error pattern: equal up to case and to white space at both ends means equal.
 *
 * `toLowerCase` is Unicode's full, locale-free mapping (İ gives i and a combining dot, a final Σ gives ς), and equals
 * Python's `str.lower()` for every code point that the Unicode versions of both know (checked over all of them, Unicode 14
 * against 17, and for Σ in 74,000 contexts). It comes before trimming, as in the source document. A lone surrogate
 * counts as U+FFFD; Python refuses it.
 */
export const errorSignature = (errorType: string, content: string): string =>
  sha256Hex(`${errorType}:${trimWhiteSpace(content.toLowerCase())}`).slice(0, SIGNATURE_CHARS);
