import { LIMITS, type Limits } from '../../src/core/stuck/stuck-rules.ts';
import { type Alarms, secondwind } from './detectors.ts';
import type { Transcript } from './read-corpus.ts';
import { scoreAlarms } from './score.ts';

const FOLDS = 5;

/** The settings that the folds choose from: the numbers of the product, and one or two rules looser or stricter. */
export const CANDIDATES: readonly Limits[] = [
  LIMITS,
  { ...LIMITS, errors: { suspect: 3, stuck: 3 } },
  { ...LIMITS, errors: { suspect: 4, stuck: 5 } },
  { ...LIMITS, fruitless: { suspect: { window: 5, least: 4 }, stuck: { window: 7, least: 6 } }, queries: 5 },
  { ...LIMITS, fruitless: { suspect: { window: 7, least: 6 }, stuck: { window: 10, least: 9 } }, queries: 7 },
  { ...LIMITS, page: { ...LIMITS.page, suspect: 3, stuck: 4 } },
  { ...LIMITS, page: { ...LIMITS.page, suspect: 5, stuck: 6 } },
  { ...LIMITS, rounds: { suspect: 2, stuck: 3 } },
  { ...LIMITS, rewordings: { ...LIMITS.rewordings, suspect: 3, stuck: 4 } },
  { ...LIMITS, errors: { suspect: 4, stuck: 5 }, page: { ...LIMITS.page, suspect: 5, stuck: 6 } },
];

const foldOf = (task: string): number => {
  let hash = 7;
  for (const character of task) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % FOLDS;
};

/** The value of a setting on the folds it is chosen on: recall and saved steps, if false alarms stay under the bars. */
const valueOf = (transcripts: readonly Transcript[], alarms: readonly Alarms[]): number => {
  const stuck = scoreAlarms(transcripts, alarms, 'stuck');
  const suspect = scoreAlarms(transcripts, alarms, 'suspect');
  const excess = Math.max(0, stuck.falseAlarms.share - 0.01) * 10 + Math.max(0, suspect.falseAlarms.share - 0.05) * 4;
  return stuck.recall.share + suspect.recall.share + 0.5 * stuck.saved.share - excess;
};

/**
 * Chooses the setting for each fold on the other four folds, and returns the alarms that each transcript gets from the
 * setting that did not see it.
 */
export const crossValidate = (
  transcripts: readonly Transcript[],
  candidates: readonly Limits[],
): { alarms: Alarms[]; chosen: number[] } => {
  const all = candidates.map((limits) => transcripts.map(({ calls }) => secondwind(limits)(calls)));
  const folds = transcripts.map(({ task }) => foldOf(task));
  const chosen = Array.from({ length: FOLDS }, (_, fold) => {
    const isSeen = (_item: unknown, index: number): boolean => folds[index] !== fold;
    const seen = transcripts.filter(isSeen);
    const values = all.map((alarms) => valueOf(seen, alarms.filter(isSeen)));
    return values.indexOf(Math.max(...values));
  });
  const none: Alarms = { suspect: null, stuck: null };
  const alarms = folds.map((fold, index) => all[chosen[fold] ?? 0]?.[index] ?? none);
  return { alarms, chosen };
};
