import { hideData } from './travelling-values.ts';
import { type Reflection, reflectionFromEvaluation } from './from-evaluation.ts';

/** The review of a pass that was not good enough, and the score of the pass after it, which was. */
export interface MendedReview {
  /** What the reviewer said was missed or wrong. */
  missed: readonly string[];
  score_before: number;
  score_after: number;
  goal: string;
  context: string;
  /** The number of the rerun. */
  iteration: number;
  /** Goal, input, plan, inputs and outputs of the run, as texts. */
  own_texts: readonly string[];
}

const HIDDEN = '…';
/** Texts in quotes, addresses, paths, and words with digits or signs: a reviewer names the data of the run with them. */
const QUOTED = /"[^"\n]{1,200}"|“[^”“\n]{1,200}”|`[^`\n]{1,200}`/gu;
const DATA = /[\d@_]|:\/\/|\p{L}\//u;
/** A word with a capital letter inside a sentence is a name. Words in capitals only, such as CONFLICTS, are not. */
const NAME = /(?<=[\p{L},;:…] )\p{Lu}\p{Ll}[\p{L}-]*/gu;
const FEWEST_WORDS = 3;

/**
 * Makes the lesson of a review whose findings were mended in the next pass. A reviewer writes about one run, so everything that
 * looks like data of it is hidden. Returns null if too little is left to say something, or if the score did not rise enough.
 */
export function lessonFromReview(review: MendedReview): Reflection | null {
  const findings = review.missed.map((text) => withoutData(text, review.own_texts)).filter(saysEnough);
  if (findings.length === 0) return null;
  return reflectionFromEvaluation({
    critique: findings.join('; '),
    query: review.goal,
    context: review.context,
    iteration: review.iteration,
    quality_before: review.score_before,
    quality_after: review.score_after,
  });
}

const withoutData = (text: string, ownTexts: readonly string[]): string =>
  hideData(text.replaceAll(/\s+/g, ' ').trim(), ownTexts)
    .replaceAll(QUOTED, HIDDEN)
    .replaceAll(/\S+/g, (word) => (DATA.test(word) ? HIDDEN : word))
    .replaceAll(NAME, HIDDEN);

const saysEnough = (text: string): boolean => (text.match(/\p{L}{3,}/gu) ?? []).length >= FEWEST_WORDS;
