import { sha256Hex } from '../../protocol/ids.ts';

const RERUN_SUFFIX = /_r(\d+)$/;

/** Leaves eight of the 128 characters of an id for `_r` and a number. */
const FAMILY_CHARS = 120;
const KEPT_CHARS = 100;
const HASH_CHARS = 16;

/**
 * The family of a loop: its id without `_rN`. An id that is too long for a suffix gives a family named by its beginning
 * and its hash. The family of that name is the name itself, so every rerun leads back to it.
 */
export function familyOf(loopId: string): string {
  const base = loopId.replace(RERUN_SUFFIX, '');
  if (base.length <= FAMILY_CHARS) return base;
  return `${base.slice(0, KEPT_CHARS)}-${sha256Hex(base).slice(0, HASH_CHARS)}`;
}

/** True if the id ends in `_r<n>`. Such an id is a rerun, so it cannot open a family. */
export const isRerunId = (loopId: string): boolean => RERUN_SUFFIX.test(loopId);

export const rerunId = (family: string, rerunNumber: number): string => `${family}_r${rerunNumber}`;

/** The N of `_rN`; 0 for a first loop. */
export function rerunDepth(loopId: string): number {
  const digits = RERUN_SUFFIX.exec(loopId)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
