import { sha256Hex } from '../../protocol/ids.ts';
import { trimWhiteSpace } from './unicode-text.ts';

const SIGNATURE_CHARS = 16;

/**
 * Identifies an error pattern. Texts that differ only in case, or in white space at either end, have the same
 * signature.
 *
 * `toLowerCase` is Unicode's full, locale-free mapping (İ gives i and a combining dot, a final Σ gives ς). It equals
 * Python's `str.lower()` for every code point that both Unicode versions know (checked for all of them, Unicode 14
 * against 17, and for Σ in 74,000 contexts). Lower-casing comes before trimming, as in the source document. A lone
 * surrogate counts as U+FFFD; Python refuses it.
 */
export const errorSignature = (errorType: string, content: string): string =>
  sha256Hex(`${errorType}:${trimWhiteSpace(content.toLowerCase())}`).slice(0, SIGNATURE_CHARS);
