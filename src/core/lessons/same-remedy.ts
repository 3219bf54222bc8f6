const REMEDY = ', then what worked was ';
const BETWEEN_WORDS = /[\s,;"'()]/;

/**
 * Two lessons that look alike may say the opposite: the same words, another order of values. They are the same only if what
 * worked is the same and every value stands at the same place.
 */
export function sameRemedy(one: string, other: string): boolean {
  if (one.includes(REMEDY) !== other.includes(REMEDY)) return false;
  if (one.includes(REMEDY)) return remedyOf(one) === remedyOf(other);
  return valuesOf(one) === valuesOf(other);
}

const remedyOf = (content: string): string => {
  const plain = content.toLowerCase().replace(/\s+/g, ' ').trim();
  return plain.slice(plain.indexOf(REMEDY) + REMEDY.length);
};
/** Words with a digit: numbers, versions, ports, ids. */
const valuesOf = (content: string): string =>
  content
    .toLowerCase()
    .split(BETWEEN_WORDS)
    .filter((word) => /\d/.test(word))
    .join(' ');
