/**
 * What the strip of a run and the strip of a transcript have in common: each shows one square per attempt or call, and
 * the same failure has the same letter and the same shade.
 */

/** The colours of failures, for light and for dark pages. A letter carries the meaning, the shade only helps the eye. */
export const SHADES: readonly (readonly [light: string, dark: string])[] = [
  ['#b3261e', '#ff9a92'],
  ['#7a3e9d', '#d3a5ee'],
  ['#9a4a00', '#f5b070'],
  ['#0b6371', '#6fd0de'],
  ['#8f2361', '#f49ac6'],
  ['#4d5b12', '#c3cf74'],
];

const A = 65;
const LETTERS = 26;

/** A to Z, then A2, B2 and so on. */
export const letterOf = (index: number): string => {
  const round = Math.floor(index / LETTERS);
  return String.fromCharCode(A + (index % LETTERS)) + (round === 0 ? '' : String(round + 1));
};

export const shadeOf = (index: number): number => index % SHADES.length;

/** From so many marks on, squares become small bars, and then a density strip, so that a long run stays on one screen. */
const SMALL_FROM = 90;
const DENSE_FROM = 500;

export const stripSize = (marks: number): 'large' | 'small' | 'dense' =>
  marks >= DENSE_FROM ? 'dense' : marks >= SMALL_FROM ? 'small' : 'large';

/** What a square says: a letter names a failure. */
export const symbolOf = (outcome: 'ok' | 'failed' | 'running' | 'cancelled', letter: string | undefined): string => {
  if (outcome === 'failed') return letter ?? '✕';
  return outcome === 'ok' ? '✓' : outcome === 'running' ? '…' : '–';
};
