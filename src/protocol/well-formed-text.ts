/**
 * Replaces lone surrogates with U+FFFD. A lone surrogate cannot be stored, so a text with one would no longer match its
 * hash. With the `u` flag the pattern matches only lone surrogates; `toWellFormed` is not in our ES2023 lib.
 */
export const toWellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');

/** Joins parts into sentences and adds a missing full stop between them. */
export const joinSentences = (...parts: (string | null)[]): string =>
  parts
    .map((part) => part?.trim() ?? '')
    .filter((part) => part !== '')
    .map((part, index, all) => (index === all.length - 1 || /[.!?…:]$/.test(part) ? part : `${part}.`))
    .join(' ');
