import { effortOf, hasSucceeded } from './monitors.ts';
import type { Evaluation } from './monitors.ts';

/** The rollback rules that switch enhancement off automatically. */
export const SWITCH_OFF = {
  window: 50,
  not_before: 20,
  /** The fewest evaluations of held-out runs that make a baseline. */
  baseline_from: 5,
  success: 0.85,
  runtime_overhead: 0.25,
  cost_factor: 10,
} as const;

export type SwitchOffReason = 'success_below_baseline' | 'runtime_overhead_exceeded' | 'cost_factor_exceeded';

/** The name that is recorded when a rule switched enhancement off. */
export const BY_RULE = 'rollback rule';

export interface EnhancementJudgement {
  evaluations: number;
  success: number;
  /** The success of runs without enhancement; null while there are too few of them. */
  baseline: number | null;
  baseline_evaluations: number;
  /** What enhancement takes more than the baseline. Null when nothing was measured, such as cost without prices. */
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

const rateOf = (evaluations: readonly Evaluation[]): number =>
  evaluations.filter(hasSucceeded).length / evaluations.length;

/** One-sided, at a risk of about 5 %. */
const CLEARLY = 1.64;

/** The upper end of the Wilson interval of a success rate. */
function highestRate(rate: number, n: number): number {
  const z2 = CLEARLY ** 2;
  const spread = CLEARLY * Math.sqrt((rate * (1 - rate)) / n + z2 / (4 * n * n));
  return (rate + z2 / (2 * n) + spread) / (1 + z2 / n);
}

/** Whether one rate is below another by more than chance explains. Half a success and half a failure are added to each. */
function isClearlyBelow(one: readonly Evaluation[], other: readonly Evaluation[]): boolean {
  const [a, b] = [one, other].map((list) => (list.filter(hasSucceeded).length + 0.5) / (list.length + 1)) as [
    number,
    number,
  ];
  const deviation = Math.sqrt((a * (1 - a)) / (one.length + 1) + (b * (1 - b)) / (other.length + 1));
  return b - a > CLEARLY * deviation;
}

/** Time and cost of one evaluation on average, with the run's other work and all retries. */
const meanOf = (evaluations: readonly Evaluation[]): { ms: number; cost: number } => {
  const effort = effortOf(evaluations);
  return {
    ms: (effort.base_ms + effort.added_ms) / evaluations.length,
    cost: (effort.base_cost_micro_usd + effort.added_cost_micro_usd) / evaluations.length,
  };
};

/**
 * What an evaluation takes without enhancement: the mean of the held-out runs. While there are too few, the same runs
 * without their retries, but only if their other work is known, because an evaluator alone would look expensive.
 */
function baselineEffort(recent: readonly Evaluation[], heldOut: readonly Evaluation[]): { ms: number; cost: number } {
  if (heldOut.length >= SWITCH_OFF.baseline_from) return meanOf(heldOut);
  const { base_ms, base_cost_micro_usd: cost, first_attempts_ms, first_attempts_cost_micro_usd } = effortOf(recent);
  const knowsTime = base_ms >= 2 * first_attempts_ms;
  const knowsCost = cost >= 2 * first_attempts_cost_micro_usd;
  return { ms: knowsTime ? base_ms / recent.length : 0, cost: knowsCost ? cost / recent.length : 0 };
}

/**
 * Judges whether enhancement helps. `evaluations` are those of one agent, oldest first, since its enhancement was last
 * switched on. Returns null when there are too few.
 *
 * Enhancement goes off if its success is below both 0.85 and the baseline, and not only by chance, or if it takes more time
 * or cost over the baseline than the limits allow.
 */
export const judgeEnhancement = (evaluations: readonly Evaluation[]): EnhancementJudgement | null => {
  const enhanced = evaluations.filter(({ arm = 'enhanced' }) => arm === 'enhanced');
  if (enhanced.length < SWITCH_OFF.not_before) return null;
  const recent = enhanced.slice(-SWITCH_OFF.window);
  const heldOut = evaluations.filter(({ arm }) => arm === 'baseline');
  const baseline = heldOut.length < SWITCH_OFF.baseline_from ? null : rateOf(heldOut);
  const success = rateOf(recent);
  const own = meanOf(recent);
  const without = baselineEffort(recent, heldOut);
  const runtimeOverhead = without.ms === 0 ? null : own.ms / without.ms - 1;
  const costFactor = without.cost === 0 ? null : own.cost / without.cost;

  const reason = (): SwitchOffReason | null => {
    const isBelow = success < SWITCH_OFF.success && baseline !== null && success < baseline;
    const isClear = highestRate(success, recent.length) < SWITCH_OFF.success || isClearlyBelow(recent, heldOut);
    if (isBelow && isClear) return 'success_below_baseline';
    if (runtimeOverhead !== null && runtimeOverhead > SWITCH_OFF.runtime_overhead) return 'runtime_overhead_exceeded';
    if (costFactor !== null && costFactor > SWITCH_OFF.cost_factor) return 'cost_factor_exceeded';
    return null;
  };
  return {
    evaluations: recent.length,
    success,
    baseline,
    baseline_evaluations: heldOut.length,
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
    success_below_baseline: `success was ${percent(judgement.success)}, below ${percent(SWITCH_OFF.success)} and below the ${percent(judgement.baseline ?? 0)} of ${judgement.baseline_evaluations} evaluations without it`,
    runtime_overhead_exceeded: `it took ${percent(judgement.runtime_overhead ?? 0)} more time than evaluations without it`,
    cost_factor_exceeded: `cost was ${Math.round((judgement.cost_factor ?? 0) * 10) / 10} times that of evaluations without it`,
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
