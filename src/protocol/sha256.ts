import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/**
 * The SHA-256 of the text as UTF-8, in hexadecimal. A run hashes small texts many times in every step, so these reuse one
 * buffer and one hasher: creating them costs more than the hash itself.
 */
export function sha256Hex(text: string): string {
  if (text.length * MOST_BYTES_PER_UNIT > bytes.length) return bytesToHex(sha256(encoder.encode(text)));
  const { written } = encoder.encodeInto(text, bytes);
  // oxlint-disable-next-line no-underscore-dangle -- the public way to use a hasher again
  unused._cloneInto(hasher);
  hasher.update(bytes.subarray(0, written)).digestInto(digest);
  return bytesToHex(digest);
}

const encoder = new TextEncoder();
/** One UTF-16 unit takes at most three bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;
const bytes = new Uint8Array(8_192);
const digest = new Uint8Array(32);
const unused = sha256.create();
const hasher = sha256.create();
