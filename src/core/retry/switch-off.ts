import { effortOf, hasSucceeded } from './monitors.ts';
import type { Evaluation } from './monitors.ts';

/** The seed's rollback rules, which act by themselves. */
export const SWITCH_OFF = {
  window: 50,
  not_before: 20,
  baseline: 0.85,
  runtime_overhead: 0.25,
  cost_factor: 10,
} as const;

export type SwitchOffReason = 'success_below_baseline' | 'runtime_overhead_exceeded' | 'cost_factor_exceeded';

/** Who switched it off when no person did. */
export const BY_RULE = 'rollback rule';

export interface EnhancementJudgement {
  evaluations: number;
  success: number;
  baseline: number;
  /** null where nothing was measured, such as cost without prices: a rule without figures never acts. */
  runtime_overhead: number | null;
  cost_factor: number | null;
  reason: SwitchOffReason | null;
}

/** Whether an agent uses enhancement. Off is left only by a person: a rule that switched itself on again would flap. */
export type EnhancementSwitch =
  | { enhancement: 'on'; since: string | null; by: string | null; note: string | null }
  | {
      enhancement: 'off';
      since: string;
      by: string;
      /** What a person said to it. */
      note: string | null;
      reason: SwitchOffReason | 'by_person';
      sentence: string;
      /** null when a person switched it off. */
      judgement: EnhancementJudgement | null;
    };

export const ENHANCEMENT_ON: EnhancementSwitch = { enhancement: 'on', since: null, by: null, note: null };

const rateOf = (evaluations: readonly Evaluation[], isSuccess: (evaluation: Evaluation) => boolean): number =>
  evaluations.filter(isSuccess).length / evaluations.length;

/**
 * The agent's own rate without any help, from what lies before the window: inside it the final rate can never be below
 * the first-attempt rate. Too little history: the seed's figure.
 */
const baselineOf = (history: readonly Evaluation[]): number =>
  history.length < SWITCH_OFF.not_before
    ? SWITCH_OFF.baseline
    : rateOf(history, (evaluation) => evaluation.attempts[0]?.ok === true);

/** `evaluations`: one agent's, oldest first, since its enhancement was last switched on. null: too few to judge. */
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

/** One sentence for a person, as the status shows it. */
const sentenceOf = (reason: SwitchOffReason, judgement: EnhancementJudgement): string => {
  const over = `Enhancement is off: over the last ${judgement.evaluations} evaluations`;
  const facts: Record<SwitchOffReason, string> = {
    success_below_baseline: `success was ${percent(judgement.success)}, below the baseline of ${percent(judgement.baseline)}`,
    runtime_overhead_exceeded: `retries added ${percent(judgement.runtime_overhead ?? 0)} of runtime`,
    cost_factor_exceeded: `cost was ${Math.round((judgement.cost_factor ?? 0) * 10) / 10} times that without retries`,
  };
  return `${over} ${facts[reason]}. An operator can switch it on again.`;
};

/** The switch after another evaluation. `now` is the time that the caller has. */
export const nextSwitch = (
  current: EnhancementSwitch,
  evaluations: readonly Evaluation[],
  now: string,
): EnhancementSwitch => {
  if (current.enhancement === 'off') return current;
  const judgement = judgeEnhancement(evaluations);
  if (judgement === null || judgement.reason === null) return current;
  const { reason } = judgement;
  const sentence = sentenceOf(reason, judgement);
  return { enhancement: 'off', since: now, by: BY_RULE, note: null, reason, sentence, judgement };
};

/** A person's word against it, in a sentence as the status shows it. */
export const sentenceOfPerson = (by: string, note: string | null): string =>
  `Enhancement is off: ${by} switched it off${note === null ? '' : ` (${note})`}. An operator can switch it on again.`;
