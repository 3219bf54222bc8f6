import type { Policy } from '../../protocol/schemas/policy.ts';
import type { Grant } from '../../protocol/sub-runs.ts';

/**
 * Limits an agent's policy to what it was granted: for each budget the smaller value applies. Questions go to the
 * people of the run that granted it.
 */
export function tightenPolicy(policy: Policy, { budget: granted, humans }: Grant): Policy {
  const { budget } = policy;
  const least = (one: number | null, other: number | null): number | null =>
    one === null || other === null ? (one ?? other) : Math.min(one, other);
  return {
    ...policy,
    budget: {
      ...budget,
      max_steps: Math.min(budget.max_steps, granted.max_steps),
      max_attempts: Math.min(budget.max_attempts, granted.max_attempts),
      max_model_calls: Math.min(budget.max_model_calls, granted.max_model_calls),
      max_tokens: Math.min(budget.max_tokens, granted.max_tokens),
      max_cost_micro_usd: least(budget.max_cost_micro_usd, granted.max_cost_micro_usd),
      max_seconds: Math.min(budget.max_seconds, granted.max_seconds),
    },
    humans: { ...humans, max_questions: Math.min(policy.humans.max_questions, humans.max_questions) },
  };
}
