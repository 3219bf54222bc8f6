import { similarityOfTrigrams, splitTrigrams } from '../lessons/trigram.ts';

/** A word of a search, with how much it tells. */
export interface AskedWord {
  word: string;
  weight: number;
  /** It may differ each time, so it counts for a text that has it, and not against one that lacks it. */
  passing: boolean;
}

const MOST_TELLING = 14;

/** How much a word tells, in bits: a word that no text has tells most, one that 10,000 texts have tells nearly nothing. */
export const wordWeight = (textsWithIt: number): number =>
  Math.max(1, MOST_TELLING - Math.round(Math.log2(1 + textsWithIt)));

/** The words of a search or a text, in their order, and those that may differ each time. */
export interface SearchedText {
  words: readonly string[];
  passing: readonly string[];
}

const MAY_BE_CUT = 3;

/**
 * Weighs the words of a search by the number of texts that have them. The first and the last word count as passing, because a text
 * that was cut begins or ends with a part of a word.
 */
export function weighWords({ words, passing }: SearchedText, textsWith: ReadonlyMap<string, number>): AskedWord[] {
  const weigh = (word: string, isPassing: boolean): AskedWord => ({
    word,
    weight: wordWeight(textsWith.get(word) ?? 0),
    passing: isPassing,
  });
  const last = words.length - 1;
  return [
    ...words.map((word, index) => weigh(word, words.length >= MAY_BE_CUT && (index === 0 || index === last))),
    ...passing.filter((word) => !words.includes(word)).map((word) => weigh(word, true)),
  ];
}

/** What a search and a text have in common. */
export interface Shared {
  /** Words that say what the text is about. */
  words: number;
  /** Values and parts of paths, which may differ each time. */
  passing: number;
  weight: number;
  /** The weight of the words that were asked, without passing ones that the text lacks. */
  asked: number;
}

/** Compares a search with a text. */
export function shareWords(asked: readonly AskedWord[], text: SearchedText): Shared {
  const [words, values] = [new Set(text.words), new Set(text.passing)];
  const shared: Shared = { words: 0, passing: 0, weight: 0, asked: 0 };
  for (const { word, weight, passing } of asked) {
    const isWord = words.has(word);
    const isShared = isWord || values.has(word);
    if (isShared || !passing) shared.asked += weight;
    if (!isShared) continue;
    if (isWord) shared.words += 1;
    else shared.passing += 1;
    shared.weight += weight;
  }
  return shared;
}

/** What two texts about one error share. Chosen with `npm run recall`, on errors that it does not report about. */
export const SAME_ERROR = { ofAsked: 0.7, ofText: 0.75, bits: 14, wordsOfText: 3 } as const;

/**
 * Whether a text speaks about the same error as a search: it has nearly all that was asked, as half of a message has, or nearly all
 * of it was asked, as in a message that something else wrapped. An unrelated error shares only words that occur in many errors.
 */
export function isSameError({ words, passing, weight, asked }: Shared, text: SearchedText): boolean {
  if (weight < SAME_ERROR.bits || words === 0 || words + passing < Math.min(2, text.words.length)) return false;
  if (weight >= SAME_ERROR.ofAsked * asked) return true;
  return words >= SAME_ERROR.wordsOfText && words >= SAME_ERROR.ofText * text.words.length;
}

/**
 * How alike a search and a text are, from 0 to 1: mostly how much of the search the text has, then how much of the text was asked,
 * then how many trigrams they share. Trigrams see that `timeout` and `timed` are alike, and half of a word.
 */
export function createScore(asked: readonly AskedWord[]): (text: SearchedText, shared: Shared) => number {
  const trigrams = splitTrigrams(asked.map(({ word }) => word).join(' '));
  const weight = asked.reduce((sum, word) => sum + word.weight, 0);
  return ({ words }, shared) => {
    if (weight === 0 || words.length === 0) return 0;
    const alike = similarityOfTrigrams(trigrams, splitTrigrams(words.join(' ')));
    return shared.weight / weight / 2 + shared.words / words.length / 4 + alike / 4;
  };
}
