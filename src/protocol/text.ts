/**
 * Half a surrogate pair does not survive being stored, and what was hashed with one would no longer have its own hash.
 * Under the `u` flag a surrogate matches only when it is alone; `toWellFormed` is not in our ES2023 lib.
 */
export const wholeText = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');

/** What happened and what to do, one after the other; each ends as a sentence does, whoever wrote it. */
export const inSentences = (...parts: (string | null)[]): string =>
  parts
    .map((part) => part?.trim() ?? '')
    .filter((part) => part !== '')
    .map((part, index, all) => (index === all.length - 1 || /[.!?…:]$/.test(part) ? part : `${part}.`))
    .join(' ');
