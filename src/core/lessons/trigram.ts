/**
 * Similarity as Postgres' pg_trgm measures it, so that core and store agree on what is near-identical: the share of
 * trigrams that two texts have in common, among all that either has.
 *
 * A word is a run of letters and digits, lower-cased character by character (no final sigma; İ gives i), with two blanks
 * before and one after. Compared with PostgreSQL 18 under C.UTF-8 over every code point: they differ only for
 * characters that the system library's older Unicode does not know. Postgres hashes trigrams of other than single-byte
 * characters, so two may rarely collide there; here they never do.
 */
const WORD = /[\p{Alphabetic}\p{Nd}]+/gu;
const CAPITAL_I_WITH_DOT = '\u0130';

export function trigramsOf(text: string): Set<string> {
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

/** From 0 to 1, in single precision as Postgres' `real`, so that a threshold cuts both at the same place. */
export function similarityOfTrigrams(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const trigram of a) if (b.has(trigram)) shared += 1;
  return Math.fround(shared / (a.size + b.size - shared));
}

export const trigramSimilarity = (a: string, b: string): number => similarityOfTrigrams(trigramsOf(a), trigramsOf(b));
