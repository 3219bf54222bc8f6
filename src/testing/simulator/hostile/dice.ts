import { seededRandom } from '../seeded-random.ts';

/** Chance that can be thrown again: the same numbers give the same throws on any machine. */
export interface Dice {
  /** From 0 up to, not including, 1. */
  share: () => number;
  chance: (share: number) => boolean;
  /** A whole number, both ends included. */
  int: (min: number, max: number) => number;
  pick: <T>(from: readonly T[]) => T;
}

/** Dice of their own for each combination of numbers, so that what one step meets never depends on its neighbours. */
export function diceOf(...parts: number[]): Dice {
  const random = seededRandom(mixed(parts));
  const int = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  return {
    share: random,
    chance: (share) => random() < share,
    int,
    pick: <T>(from: readonly T[]): T => from[int(0, from.length - 1)] as T,
  };
}

/** Neighbouring seeds, steps and attempts must not throw alike: the finisher of murmur3 over each part. */
function mixed(parts: number[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
