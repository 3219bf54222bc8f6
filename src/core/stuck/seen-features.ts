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

const noveltyOf = (said: string, earlier: readonly CallFeatures[]): number => {
  const words = decodeWords(said);
  const known = decodeWords(earlier.map((call) => call.said).join(''));
  const news = [...words].filter((word) => !known.has(word));
  return words.size === 0 ? 0 : news.length / words.size;
};

const overlap = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const both = [...one].filter((word) => other.has(word)).length;
  return both / Math.max(1, one.size + other.size - both);
};

/** Compares words only where a rule asks for it: for searches, and for an answer that begins like an earlier one. */
const compareWords = (recent: readonly CallFeatures[], now: CallFeatures): Pick<CallFeatures, 'novelty' | 'alike'> => {
  const isSearch = SEARCH_TOOL.test(now.tool);
  const ofTool = recent.filter((one) => one.tool === now.tool);
  if (!isSearch && !ofTool.some((one) => one.head !== null && one.head === now.head)) return { novelty: 1, alike: 0 };
  const earlier = ofTool.slice(-COMPARED);
  const asked = decodeWords(now.asked);
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
    recent: [...seen.recent, now].slice(-RECENT),
    pairs: now.fresh ? [...pairs, pair].slice(-PAIRS) : pairs,
  };
};
