import { type CallFeatures, SEARCH_TOOL } from './call-features.ts';

/** `suspect` deserves a hint to the agent and may be wrong now and then. `stuck` deserves a hold and is nearly never wrong. */
export type StuckLevel = 'suspect' | 'stuck';

/** The rules that compare calls which are not equal. Equal calls have the rules of `loop-rules.ts`. */
export type VariedRule = 'same_error' | 'fruitless' | 'near_repeat' | 'long_cycle' | 'edit_run';

export interface Finding {
  /** `same_call_failing` is found here if other calls brought news between the equal failures. */
  rule: VariedRule | 'same_call_failing';
  level: StuckLevel;
  /** The calls that show it, oldest first. The last one is the latest call. */
  calls: readonly CallFeatures[];
}

interface Levels {
  suspect: number;
  stuck: number;
}
interface Share {
  window: number;
  least: number;
}
export interface Limits {
  window: number;
  errors: Levels;
  equalErrors: Levels;
  fruitless: { suspect: Share; stuck: Share };
  queries: number;
  sweep: Share;
  rewordings: Levels & { window: number; alike: number; novelty: number };
  page: Levels & { novelty: number };
  writes: Levels;
  cycle: { suspect: Share; stuck: Share; calls: number };
  rounds: Levels;
}

/**
 * The numbers of the rules. They were chosen by cross-validation on labelled transcripts and are
 * stable: one more or one less changes few verdicts (docs/loopbench.md).
 */
export const LIMITS: Limits = {
  /** How many of the latest calls are looked at for the same error or the same page. */
  window: 10,
  /** Equal errors of one tool with other inputs. */
  errors: { suspect: 3, stuck: 4 },
  /** Equal calls with equal errors, although other calls brought news in between. */
  equalErrors: { suspect: 3, stuck: 4 },
  /** A window of calls without a find, and how many of them must be without one. */
  fruitless: { suspect: { window: 6, least: 5 }, stuck: { window: 8, least: 7 } },
  /** `stuck` also needs this many different queries: one query in ever other places is a search through a list. */
  queries: 6,
  /** A search through a list that finds nothing is `stuck` too, but much later. */
  sweep: { window: 12, least: 11 },
  /** Searches with other words whose answers bring few new words. */
  rewordings: { suspect: 4, stuck: 6, window: 8, alike: 0.5, novelty: 0.32 },
  /** Different requests that show the same page. */
  page: { suspect: 4, stuck: 5, novelty: 0.2 },
  /** The same writing call in a row, whatever it answers. */
  writes: { suspect: 3, stuck: 4 },
  /** A window of calls, and how many of them must be repetitions of earlier calls with the same outcome. */
  cycle: { suspect: { window: 10, least: 7 }, stuck: { window: 12, least: 10 }, calls: 4 },
  /** Rounds of a change and a run that ends in the same error. */
  rounds: { suspect: 3, stuck: 4 },
};

const isError = ({ kind }: CallFeatures): boolean => kind === 'failed' || kind === 'negative';
const foundNothing = (call: CallFeatures): boolean => isError(call) || (call.kind === 'empty' && call.looks);
const isBarren = (call: CallFeatures): boolean => foundNothing(call) || !call.fresh;

/** A writing call that worked and was not made before. After it, an equal call may have another outcome. */
export const isChange = (call: CallFeatures): boolean =>
  call.writes && call.fresh && (call.kind === 'ok' || call.kind === 'empty');

const levelOf = (count: number, limits: Levels): StuckLevel | null =>
  count >= limits.stuck ? 'stuck' : count >= limits.suspect ? 'suspect' : null;

const asFinding = (rule: Finding['rule'], level: StuckLevel | null, calls: readonly CallFeatures[]): Finding | null =>
  level === null ? null : { rule, level, calls };

/** The calls since the last one that meets the condition. */
const since = (calls: readonly CallFeatures[], ends: (call: CallFeatures) => boolean): readonly CallFeatures[] =>
  calls.slice(calls.findLastIndex(ends) + 1);

const equalFailures = (calls: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  if (!isError(now)) return null;
  const same = calls.slice(-limits.window).filter((call) => call.call === now.call && call.outcome === now.outcome);
  return asFinding('same_call_failing', levelOf(same.length, limits.equalErrors), same);
};

const sameError = (
  calls: readonly CallFeatures[],
  now: CallFeatures,
  stuckAt: number,
  limits: Limits,
): Finding | null => {
  if (now.kind !== 'failed') return null;
  const isSame = (call: CallFeatures): boolean => call.tool === now.tool && call.outcome === now.outcome;
  const same = calls.slice(-limits.window).filter(isSame);
  if (same.length >= stuckAt) return asFinding('same_error', 'stuck', same);
  // For a suspicion the tool must not have worked in between.
  const ofTool = calls.filter((call) => call.tool === now.tool);
  const inRow = since(ofTool, (call) => !isError(call)).filter(isSame);
  return asFinding('same_error', inRow.length >= limits.errors.suspect ? 'suspect' : null, inRow);
};

const fruitless = (calls: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  if (!foundNothing(now)) return null;
  const { suspect, stuck } = limits.fruitless;
  const barrenOf = (window: number): CallFeatures[] => calls.slice(-window).filter(isBarren);
  const swept = barrenOf(limits.sweep.window);
  if (swept.length >= limits.sweep.least) return asFinding('fruitless', 'stuck', swept);
  const many = barrenOf(stuck.window);
  const queries = new Set(many.map((call) => call.query)).size;
  if (many.length >= stuck.least && queries >= limits.queries) return asFinding('fruitless', 'stuck', many);
  const some = barrenOf(suspect.window);
  return asFinding('fruitless', some.length >= suspect.least ? 'suspect' : null, some);
};

/** The same search in other words, whose answers have few words that earlier answers did not have. */
const reworded = (calls: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  const { window, alike, novelty } = limits.rewordings;
  const isReworded = (call: CallFeatures): boolean =>
    call.tool === now.tool && call.alike >= alike && call.novelty <= novelty;
  if (now.writes || !SEARCH_TOOL.test(now.tool) || !isReworded(now)) return null;
  const same = calls.slice(-window).filter(isReworded);
  return asFinding('fruitless', levelOf(same.length, limits.rewordings), same);
};

const samePage = (calls: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  if (now.head === null || now.writes || isError(now) || now.novelty > limits.page.novelty) return null;
  const same = calls.slice(-limits.window).filter((call) => call.tool === now.tool && call.head === now.head);
  // Only one call, and its answer changes: a poll of something that moves.
  if (new Set(same.map((call) => call.call)).size === 1) return null;
  return asFinding('near_repeat', levelOf(same.length, limits.page), same);
};

const sameWrite = (recent: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  if (!now.writes || isError(now)) return null;
  const inRow = since(recent, (call) => call.call !== now.call);
  return asFinding('near_repeat', levelOf(inRow.length, limits.writes), inRow);
};

const longCycle = (calls: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  if (now.fresh) return null;
  const repeatedIn = (window: number): CallFeatures[] => {
    const repeated = calls.slice(-window).filter((call) => !call.fresh);
    // A poll repeats one or two calls. Short cycles have a rule of their own.
    return new Set(repeated.map((call) => call.call)).size < limits.cycle.calls ? [] : repeated;
  };
  const many = repeatedIn(limits.cycle.stuck.window);
  if (many.length >= limits.cycle.stuck.least) return asFinding('long_cycle', 'stuck', many);
  const some = repeatedIn(limits.cycle.suspect.window);
  return asFinding('long_cycle', some.length >= limits.cycle.suspect.least ? 'suspect' : null, some);
};

/** Counts the rounds of a change and a run with the same error. Another outcome of the same tool ends the count. */
const editRun = (recent: readonly CallFeatures[], now: CallFeatures, limits: Limits): Finding | null => {
  if (now.kind !== 'failed' || now.writes) return null;
  const runs: CallFeatures[] = [now];
  let changed = false;
  for (const call of recent.slice(0, -1).toReversed()) {
    if (call.writes && call.kind !== 'failed') {
      changed = true;
    } else if (call.tool === now.tool && !call.writes && !call.looks) {
      if (call.outcome !== now.outcome) break;
      if (changed) runs.unshift(call);
      changed = false;
    }
  }
  return asFinding('edit_run', levelOf(runs.length, limits.rounds), runs);
};

/**
 * Finds what the latest call shows about being stuck: the first `stuck` finding, or else the first `suspect` one.
 * `errorsUntilStuck` is the policy's number of failures after which a call counts as stuck; the same error with other
 * inputs takes one call more.
 */
export const findVaried = (
  recent: readonly CallFeatures[],
  errorsUntilStuck: number,
  limits: Limits = LIMITS,
): Finding | null => {
  const now = recent.at(-1);
  if (now === undefined) return null;
  const calls = since(recent, (call) => isChange(call) && call.call !== now.call);
  const found = [
    sameError(calls, now, Math.max(limits.errors.stuck, errorsUntilStuck + 1), limits),
    equalFailures(calls, now, limits),
    sameWrite(recent, now, limits),
    samePage(calls, now, limits),
    editRun(recent, now, limits),
    longCycle(calls, now, limits),
    fruitless(calls, now, limits),
    reworded(calls, now, limits),
  ];
  return found.find((one) => one?.level === 'stuck') ?? found.find((one) => one !== null) ?? null;
};
