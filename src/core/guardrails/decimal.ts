/**
 * Scores are decimal: 0.25 − 0.20 is 0.05, and three times 0.15 is 0.45. Binary fractions say otherwise.
 *
 * A number becomes the shortest decimal that names it, which is what its sender wrote as long as that had no more than
 * 15 significant digits (JSON numbers carry no more through a parser). Sums and differences of such decimals are exact,
 * whatever their exponents: a decimal here is a big integer and the count of its digits after the point.
 */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

/** The number must be finite; callers check what comes from outside before they compute with it. */
export function decimal(value: number): Decimal {
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

/** Negative, zero or positive, as a sort function wants it. */
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

/** The nearest number, so that the decimal 0.45 is the number 0.45 again. Never −0. */
export const toNumber = (value: Decimal): number => Number(`${value.unscaled}e-${value.scale}`);

/** With a fixed count of digits after the point; a half goes to the even neighbour, so 0.125 is `0.12`. */
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
