/** Words as codes of three characters, so that the words of a text can be compared without keeping the text. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const CODE_CHARS = 3;
const WORD = /\p{L}{3,40}/gu;

/** FNV-1a with 32 bits. It only has to spread words well; nobody gains by a collision. */
const FNV_START = 0x811c9dc5;
const FNV_OTHER_START = 0x01234567;
const FNV_PRIME = 0x01000193;

/** A short hash for comparisons inside one run. It is fast on long outputs, and it is not a fingerprint. */
export const shortHash = (text: string): string => {
  let one = FNV_START;
  let other = FNV_OTHER_START;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // oxlint-disable-next-line no-bitwise -- the hash is defined by bits.
    one = Math.imul(one ^ unit, FNV_PRIME);
    // oxlint-disable-next-line no-bitwise -- as above.
    other = Math.imul(other ^ unit, FNV_PRIME);
  }
  // oxlint-disable-next-line no-bitwise -- as above.
  return `${(one >>> 0).toString(36)}${(other >>> 0).toString(36)}`;
};

const hashWord = (word: string): number => {
  let hash = FNV_START;
  for (let index = 0; index < word.length; index += 1) {
    // oxlint-disable-next-line no-bitwise -- the hash is defined by bits.
    hash = Math.imul(hash ^ word.charCodeAt(index), FNV_PRIME);
  }
  // oxlint-disable-next-line no-bitwise -- as above.
  return hash >>> 0;
};

const codeOf = (word: string): string => {
  const hash = hashWord(word);
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

/** The codes of `encodeWords`, each once. */
export const decodeWords = (codes: string): string[] => {
  const words: string[] = [];
  for (let at = 0; at < codes.length; at += CODE_CHARS) words.push(codes.slice(at, at + CODE_CHARS));
  return words;
};
