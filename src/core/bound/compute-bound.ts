import type { Bound, Helpers, PreparedRun } from '../../protocol/run.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';
import { maxInfrastructureWait, maxWaitPerStep, maxWaitPerCall } from '../retry/backoff.ts';
import { maxAttemptsPerStep } from '../retry/strategies.ts';

export interface BoundQuestion {
  policy: Policy;
  /** The number of steps in the given plan. Null for an agent that chooses; the policy's `max_steps` applies then. */
  planLength: number | null;
  /** True when a model reviews the passes of a given plan. */
  modelReviews?: boolean;
  /** Set when other agents work for this one. They draw on its budget, so the budget limits all of them. */
  helpers?: Helpers | undefined;
}

/**
 * Computes the limit of a run: the most that it can take, from its policy and plan alone, whatever tools, models and
 * people do. The run enforces every figure, so it always stays within the limit.
 */
export function computeBound({ policy, planLength, modelReviews = false, helpers }: BoundQuestion): Bound {
  const { budget, humans, reruns, retry } = policy;
  const chooses = planLength === null;
  const loops = 1 + reruns.max_reruns + humans.max_overrides;
  const steps = chooses || helpers !== undefined ? budget.max_steps : Math.min(budget.max_steps, planLength * loops);
  const attemptsOfStep = maxAttemptsPerStep(retry);
  const ofOwn = steps * attemptsOfStep + humans.max_questions;
  const attempts = helpers === undefined ? Math.min(budget.max_attempts, ofOwn) : budget.max_attempts;
  const asksModel = chooses || modelReviews || helpers?.asks_model === true;
  const turns = chooses || helpers?.asks_model === true ? budget.max_model_calls : 0;
  return {
    loops,
    steps,
    attempts,
    model_calls: asksModel ? budget.max_model_calls : 0,
    tokens: asksModel ? budget.max_tokens : 0,
    cost_micro_usd: asksModel ? budget.max_cost_micro_usd : 0,
    wait_ms:
      maxBackoffMs(policy, { steps, attempts, turns }, helpers) +
      humans.max_questions * humans.deadline_ms * (1 + humans.chain.length),
  };
}

/** Computes the limit of a prepared run from its own fields. */
export const computeRunBound = ({
  policy,
  planner,
  plan,
  reviewer,
  helpers,
}: Pick<PreparedRun, 'policy' | 'planner' | 'plan' | 'reviewer' | 'helpers'>): Bound =>
  computeBound({
    policy,
    planLength: planner === 'chooses' ? null : (plan?.steps.length ?? 0),
    modelReviews: reviewer === 'model',
    helpers,
  });

/**
 * The most backoff time. Every wait comes before a call, so the number of steps and the number of calls both limit it,
 * and the smaller result applies. Waiting counts as running time, so the policy's seconds limit it too.
 */
function maxBackoffMs(
  policy: Policy,
  most: { steps: number; attempts: number; turns: number },
  helpers: Helpers | undefined,
): number {
  const { retry, budget } = policy;
  if (helpers !== undefined) {
    // The policies of other agents may allow longer waits, and each of those waits comes before a call too.
    const ofAnyCall = Math.max(maxWaitPerCall(retry), helpers.wait_per_call_ms);
    return Math.min(Math.ceil((most.attempts + most.turns) * ofAnyCall), budget.max_seconds * 1000);
  }
  const ofStep = maxWaitPerStep(retry) + maxInfrastructureWait(retry);
  const ofCall = maxWaitPerCall(retry);
  const ofTools = Math.min(most.steps * ofStep, Math.ceil(most.attempts * ofCall));
  return Math.min(ofTools + Math.ceil(most.turns * ofCall), budget.max_seconds * 1000);
}
