import { sha256Hex } from '../../protocol/ids.ts';
import type { LessonTrial } from '../../protocol/lessons.ts';

/** Half of the runs that a candidate matches do not see it. */
const CANDIDATE_SHARE = 0.5;
const HASH_DIGITS = 12;

/**
 * The share of runs from which a lesson is withheld. `holdout` is the policy's share for proven lessons; 0 withholds none,
 * so nothing is measured.
 */
export function shareWithheld(trial: LessonTrial | undefined, holdout: number | undefined): number {
  if (trial === undefined || holdout === undefined || holdout === 0) return 0;
  return trial.status === 'candidate' ? CANDIDATE_SHARE : holdout;
}

/** Decides by a hash of both ids, so that replays, both worlds and a preview agree on who sees what. */
export const isWithheld = (runId: string, reflectionId: number, share: number): boolean =>
  share > 0 && fractionOf(`${runId}\n${reflectionId}`) < share;

/** A number from 0 to 1 that depends only on the text. */
export const fractionOf = (text: string): number =>
  Number.parseInt(sha256Hex(text).slice(0, HASH_DIGITS), 16) / 16 ** HASH_DIGITS;
