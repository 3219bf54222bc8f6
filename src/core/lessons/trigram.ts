/**
 * Similarity as measured by Postgres' pg_trgm, so that core and store agree on what is near-identical: the number of
 * trigrams that two texts share, divided by the number that either has.
 *
 * A word is a run of letters and digits, lower-cased character by character (no final sigma; İ gives i), with two
 * blanks before and one after. Compared with PostgreSQL 18 under C.UTF-8 for every code point, the results differ only
 * for characters that the system library's older Unicode does not know. Postgres hashes trigrams that contain
 * multi-byte characters, so two may rarely collide there; here they never do.
 */
const WORD = /[\p{Alphabetic}\p{Nd}]+/gu;
const CAPITAL_I_WITH_DOT = '\u0130';

export function splitTrigrams(text: string): Set<string> {
  const trigrams = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    const padded = [' ', ' ', ...Array.from(word, lowerCased), ' '];
    for (let start = 0; start + 3 <= padded.length; start += 1) {
      trigrams.add(padded.slice(start, start + 3).join(''));
    }
  }
  return trigrams;
}

const lowerCased = (character: string): string => (character === CAPITAL_I_WITH_DOT ? 'i' : character.toLowerCase());

/** Returns 0 to 1 in single precision, like Postgres' `real`, so that a threshold gives the same result in both. */
export function similarityOfTrigrams(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const trigram of a) if (b.has(trigram)) shared += 1;
  return Math.fround(shared / (a.size + b.size - shared));
}

export const trigramSimilarity = (a: string, b: string): number =>
  similarityOfTrigrams(splitTrigrams(a), splitTrigrams(b));
