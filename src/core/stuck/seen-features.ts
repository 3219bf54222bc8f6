import { type CallFeatures, SEARCH_TOOL } from './call-features.ts';
import { isChange } from './stuck-rules.ts';
import { decodeWords } from './word-codes.ts';

/** The latest calls that the rules about varied calls look at. Bounded, and plain JSON. */
export interface SeenFeatures {
  recent: CallFeatures[];
  /** Pairs of call and outcome since the last change, as short hashes. */
  pairs: string[];
}

const RECENT = 32;
const PAIRS = 256;
const PAIR_CHARS = 7;
/** An answer is compared with this many earlier answers of its tool. */
const COMPARED = 8;

export const createSeenFeatures = (): SeenFeatures => ({ recent: [], pairs: [] });

/** A copy of the list with one item more, without its oldest items beyond `most`. */
export function append<T>(list: readonly T[], item: T, most: number): T[] {
  const longer = list.slice(Math.max(0, list.length + 1 - most));
  longer.push(item);
  return longer;
}

const noveltyOf = (said: string, earlier: readonly CallFeatures[]): number => {
  const words = decodeWords(said);
  const news = new Set(words);
  for (const call of earlier) {
    if (news.size === 0) break;
    for (const word of decodeWords(call.said)) news.delete(word);
  }
  return words.length === 0 ? 0 : news.size / words.length;
};

const overlap = (one: ReadonlySet<string>, other: readonly string[]): number => {
  let both = 0;
  for (const word of other) if (one.has(word)) both += 1;
  return both / Math.max(1, one.size + other.length - both);
};

/** Compares words only where a rule asks for it: for searches, and for an answer that begins like an earlier one. */
const compareWords = (recent: readonly CallFeatures[], now: CallFeatures): Pick<CallFeatures, 'novelty' | 'alike'> => {
  const isSearch = SEARCH_TOOL.test(now.tool);
  const isSameHead = (one: CallFeatures): boolean => one.tool === now.tool && one.head === now.head;
  if (!isSearch && (now.head === null || !recent.some(isSameHead))) return { novelty: 1, alike: 0 };
  const earlier = recent.filter((one) => one.tool === now.tool).slice(-COMPARED);
  const asked = new Set(decodeWords(now.asked));
  return {
    novelty: noveltyOf(now.said, earlier),
    alike: isSearch ? Math.max(0, ...earlier.map((one) => overlap(asked, decodeWords(one.asked)))) : 0,
  };
};

/** Adds a call. A call that did not run leaves the state as it is; after a refusal by a person, counting starts again. */
export const addCall = (seen: SeenFeatures, features: CallFeatures): SeenFeatures => {
  if (features.kind === 'skipped') return seen;
  if (features.kind === 'refused') return createSeenFeatures();
  const pair = `${features.call.slice(0, PAIR_CHARS)}${features.outcome.slice(0, PAIR_CHARS)}`;
  const now: CallFeatures = { ...features, ...compareWords(seen.recent, features), fresh: !seen.pairs.includes(pair) };
  const pairs = isChange(now) ? [] : seen.pairs;
  return {
    recent: append(seen.recent, now, RECENT),
    pairs: now.fresh ? append(pairs, pair, PAIRS) : pairs,
  };
};
