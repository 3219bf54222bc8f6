/** Words as codes of three characters, so that the words of a text can be compared without keeping the text. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const CODE_CHARS = 3;
const WORD = /\p{L}{3,40}/gu;

/** FNV-1a with 32 bits. It only has to spread words well; nobody gains by a collision. */
const fnv = (text: string, seed: number): number => {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) {
    // oxlint-disable-next-line no-bitwise -- the hash is defined by bits.
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
};

/** A short hash for comparisons inside one run. It is fast on long outputs, and it is not a fingerprint. */
export const shortHash = (text: string): string =>
  `${fnv(text, 0x811c9dc5).toString(36)}${fnv(text, 0x01234567).toString(36)}`;

const codeOf = (word: string): string => {
  const hash = fnv(word, 0x811c9dc5);
  return (
    ALPHABET.charAt(hash % 64) +
    ALPHABET.charAt(Math.floor(hash / 64) % 64) +
    ALPHABET.charAt(Math.floor(hash / 4096) % 64)
  );
};

/** The codes of the first `most` distinct words of a text, one after the other. */
export const encodeWords = (text: string, most: number): string => {
  const codes = new Set<string>();
  for (const word of text.toLowerCase().match(WORD) ?? []) {
    codes.add(codeOf(word));
    if (codes.size >= most) break;
  }
  return [...codes].join('');
};

export const decodeWords = (codes: string): Set<string> => {
  const words = new Set<string>();
  for (let at = 0; at < codes.length; at += CODE_CHARS) words.add(codes.slice(at, at + CODE_CHARS));
  return words;
};
