/**
 * Scores are decimal: 0.25 − 0.20 is 0.05, and three times 0.15 is 0.45. With binary fractions the results differ.
 *
 * A number is converted to the shortest decimal that represents it. That is the decimal its sender wrote, if it had at
 * most 15 significant digits (JSON parsers keep no more). Sums and differences of such decimals are exact, whatever
 * their exponents: a decimal is a big integer and the number of its digits after the point.
 */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

/** Converts a number, which must be finite. Callers check values from outside first. */
export function decimal(value: number): Decimal {
  if (Number.isSafeInteger(value)) return { unscaled: BigInt(value), scale: 0 };
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const unscaled = BigInt(whole + fraction);
  return scale >= 0 ? { unscaled, scale } : { unscaled: unscaled * 10n ** BigInt(-scale), scale: 0 };
}

const unscaledAt = (value: Decimal, scale: number): bigint => value.unscaled * 10n ** BigInt(scale - value.scale);

export function plus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { unscaled: unscaledAt(a, scale) + unscaledAt(b, scale), scale };
}

export const negate = (value: Decimal): Decimal => ({ unscaled: -value.unscaled, scale: value.scale });

export const minus = (a: Decimal, b: Decimal): Decimal => plus(a, negate(b));

/** Negative, zero or positive, as a sort function expects it. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const { unscaled } = minus(a, b);
  if (unscaled === 0n) return 0;
  return unscaled < 0n ? -1 : 1;
}

export const isAtLeast = (a: Decimal, b: Decimal): boolean => compareDecimals(a, b) >= 0;

export function clampDecimal(value: Decimal, lowest: Decimal, highest: Decimal): Decimal {
  if (!isAtLeast(value, lowest)) return lowest;
  return isAtLeast(highest, value) ? value : highest;
}

/** The nearest number, so that the decimal 0.45 gives the number 0.45. Never −0. */
export const toNumber = (value: Decimal): number => Number(`${value.unscaled}e-${value.scale}`);

/** Formats with a fixed number of digits after the point. Halves are rounded to even, so 0.125 gives `0.12`. */
export function toFixedHalfEven(value: Decimal, digits: number): string {
  const negative = value.unscaled < 0n;
  const rounded = roundedUnscaled(negative ? -value.unscaled : value.unscaled, value.scale, digits);
  const text = String(rounded).padStart(digits + 1, '0');
  const point = text.length - digits;
  const sign = negative ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

function roundedUnscaled(unscaled: bigint, scale: number, digits: number): bigint {
  if (scale <= digits) return unscaled * 10n ** BigInt(digits - scale);
  const divisor = 10n ** BigInt(scale - digits);
  const quotient = unscaled / divisor;
  const twiceTheRest = (unscaled % divisor) * 2n;
  const roundsUp = twiceTheRest > divisor || (twiceTheRest === divisor && quotient % 2n === 1n);
  return roundsUp ? quotient + 1n : quotient;
}
