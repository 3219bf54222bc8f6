import { seededRandom } from '../seeded-random.ts';

/** Reproducible random numbers: the same seed gives the same numbers on any machine. */
export interface Dice {
  /** From 0 (included) to 1 (excluded). */
  share(): number;
  chance(share: number): boolean;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  pick<T>(from: readonly T[]): T;
}

/** Independent dice for each combination of numbers, so that one step's results never depend on other steps. */
export const createDice = (...parts: number[]): Dice => new SeededDice(mixSeeds(parts));

/** A class, because a simulated run makes dice for every call and functions of their own would cost more than the numbers. */
class SeededDice implements Dice {
  readonly share: () => number;

  constructor(seed: number) {
    this.share = seededRandom(seed);
  }

  chance(share: number): boolean {
    return this.share() < share;
  }

  int(min: number, max: number): number {
    return min + Math.floor(this.share() * (max - min + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(0, from.length - 1)] as T;
  }
}

/** Mixes the parts with murmur3's finalizer, so that neighbouring seeds, steps and attempts give unrelated numbers. */
function mixSeeds(parts: number[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
