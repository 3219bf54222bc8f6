import { effortOf, hasSucceeded } from './monitors.ts';
import type { Evaluation } from './monitors.ts';

/** The rollback rules that switch enhancement off automatically. */
export const SWITCH_OFF = {
  window: 50,
  not_before: 20,
  baseline: 0.85,
  runtime_overhead: 0.25,
  cost_factor: 10,
} as const;

export type SwitchOffReason = 'success_below_baseline' | 'runtime_overhead_exceeded' | 'cost_factor_exceeded';

/** The name that is recorded when a rule switched enhancement off. */
export const BY_RULE = 'rollback rule';

export interface EnhancementJudgement {
  evaluations: number;
  success: number;
  baseline: number;
  /** Null when nothing was measured, such as cost without prices. A rule without figures never applies. */
  runtime_overhead: number | null;
  cost_factor: number | null;
  reason: SwitchOffReason | null;
}

/**
 * Whether an agent uses enhancement. Only a person can switch it on again, because a rule could switch it on and off
 * repeatedly.
 */
export type EnhancementSwitch =
  | { enhancement: 'on'; since: string | null; by: string | null; note: string | null }
  | {
      enhancement: 'off';
      since: string;
      by: string;
      /** The note of the person who switched it off. */
      note: string | null;
      reason: SwitchOffReason | 'by_person';
      sentence: string;
      /** The figures that led to it; null when a person switched it off. */
      judgement: EnhancementJudgement | null;
    };

export const ENHANCEMENT_ON: EnhancementSwitch = { enhancement: 'on', since: null, by: null, note: null };

const rateOf = (evaluations: readonly Evaluation[], isSuccess: (evaluation: Evaluation) => boolean): number =>
  evaluations.filter(isSuccess).length / evaluations.length;

/**
 * The agent's own first-attempt success rate. It is taken from evaluations before the window, because inside the window
 * the final rate can never be below it. With too little history the default baseline is used.
 */
const baselineOf = (history: readonly Evaluation[]): number =>
  history.length < SWITCH_OFF.not_before
    ? SWITCH_OFF.baseline
    : rateOf(history, (evaluation) => evaluation.attempts[0]?.ok === true);

/**
 * Judges whether enhancement helps. `evaluations` are those of one agent, oldest first, since its enhancement was last
 * switched on. Returns null when there are too few.
 */
export const judgeEnhancement = (evaluations: readonly Evaluation[]): EnhancementJudgement | null => {
  if (evaluations.length < SWITCH_OFF.not_before) return null;
  const recent = evaluations.slice(-SWITCH_OFF.window);
  const baseline = baselineOf(evaluations.slice(0, -SWITCH_OFF.window));
  const success = rateOf(recent, hasSucceeded);
  const effort = effortOf(recent);
  const runtimeOverhead = effort.base_ms === 0 ? null : effort.added_ms / effort.base_ms;
  const cost = effort.base_cost_micro_usd + effort.added_cost_micro_usd;
  const costFactor = effort.base_cost_micro_usd === 0 ? null : cost / effort.base_cost_micro_usd;

  const reason = (): SwitchOffReason | null => {
    if (success < baseline) return 'success_below_baseline';
    if (runtimeOverhead !== null && runtimeOverhead > SWITCH_OFF.runtime_overhead) return 'runtime_overhead_exceeded';
    if (costFactor !== null && costFactor > SWITCH_OFF.cost_factor) return 'cost_factor_exceeded';
    return null;
  };
  return {
    evaluations: recent.length,
    success,
    baseline,
    runtime_overhead: runtimeOverhead,
    cost_factor: costFactor,
    reason: reason(),
  };
};

const percent = (rate: number): string => `${Math.round(rate * 1_000) / 10} %`;

/** Explains in one sentence, for the status, why a rule switched enhancement off. */
const describeRuleSwitch = (reason: SwitchOffReason, judgement: EnhancementJudgement): string => {
  const over = `Enhancement is off: over the last ${judgement.evaluations} evaluations`;
  const facts: Record<SwitchOffReason, string> = {
    success_below_baseline: `success was ${percent(judgement.success)}, below the baseline of ${percent(judgement.baseline)}`,
    runtime_overhead_exceeded: `retries added ${percent(judgement.runtime_overhead ?? 0)} of runtime`,
    cost_factor_exceeded: `cost was ${Math.round((judgement.cost_factor ?? 0) * 10) / 10} times that without retries`,
  };
  return `${over} ${facts[reason]}. An operator can switch it on again.`;
};

/** Returns the switch after another evaluation. `now` is the caller's time. */
export const nextSwitch = (
  current: EnhancementSwitch,
  evaluations: readonly Evaluation[],
  now: string,
): EnhancementSwitch => {
  if (current.enhancement === 'off') return current;
  const judgement = judgeEnhancement(evaluations);
  if (judgement === null || judgement.reason === null) return current;
  const { reason } = judgement;
  const sentence = describeRuleSwitch(reason, judgement);
  return { enhancement: 'off', since: now, by: BY_RULE, note: null, reason, sentence, judgement };
};

/** Explains in one sentence, for the status, that a person switched enhancement off. */
export const describeManualSwitch = (by: string, note: string | null): string =>
  `Enhancement is off: ${by} switched it off${note === null ? '' : ` (${note})`}. An operator can switch it on again.`;
