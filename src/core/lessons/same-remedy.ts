const REMEDY = ', then what worked was ';
const BETWEEN_WORDS = /[\s,;"'()]/;

/**
 * Decides whether two similar lessons recommend the same. Lessons with the same words but other values can say the
 * opposite, so the remedy has to be the same and every value has to be at the same place.
 */
export function hasSameRemedy(one: string, other: string): boolean {
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
