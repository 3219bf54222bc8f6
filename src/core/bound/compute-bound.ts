import type { Bound, Helpers, PreparedRun } from '../../protocol/run.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';
import { largestInfrastructureWait, largestWaitOfStep, largestWaitPerCall } from '../retry/backoff.ts';
import { mostAttemptsOfStep } from '../retry/strategies.ts';

export interface BoundQuestion {
  policy: Policy;
  /** Steps of the given plan; null for an agent that chooses: then the policy's `max_steps` is the plan. */
  planLength: number | null;
  /** A model is asked although the plan is given: it judges. */
  modelReviews?: boolean;
  /** Other agents work for this one: they draw on its budget, so it is the budget that bounds them all. */
  helpers?: Helpers | undefined;
}

/**
 * The most that a run can take, from its policy and plan alone, whatever tools, models and people do. Every figure is
 * also a limit that the run enforces, so the bound is kept by construction.
 */
export function computeBound({ policy, planLength, modelReviews = false, helpers }: BoundQuestion): Bound {
  const { budget, humans, reruns, retry } = policy;
  const chooses = planLength === null;
  const loops = 1 + reruns.max_reruns + humans.max_overrides;
  const steps = chooses || helpers !== undefined ? budget.max_steps : Math.min(budget.max_steps, planLength * loops);
  const attemptsOfStep = mostAttemptsOfStep(retry);
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
      backOffMs(policy, { steps, attempts, turns }, helpers) +
      humans.max_questions * humans.deadline_ms * (1 + humans.chain.length),
  };
}

/** The bound of a run that is prepared, from what it carries: whoever prepared it. */
export const boundOfRun = ({
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
 * Every wait comes before a call, so it is bounded by the steps and by the calls that there can be: whichever is less.
 * Waiting counts as running time, so the policy's seconds cap it too.
 */
function backOffMs(
  policy: Policy,
  most: { steps: number; attempts: number; turns: number },
  helpers: Helpers | undefined,
): number {
  const { retry, budget } = policy;
  if (helpers !== undefined) {
    // Theirs may be more patient policies; every wait of theirs comes before a call too.
    const ofAnyCall = Math.max(largestWaitPerCall(retry), helpers.wait_per_call_ms);
    return Math.min(Math.ceil((most.attempts + most.turns) * ofAnyCall), budget.max_seconds * 1000);
  }
  const ofStep = largestWaitOfStep(retry) + largestInfrastructureWait(retry);
  const ofCall = largestWaitPerCall(retry);
  const ofTools = Math.min(most.steps * ofStep, Math.ceil(most.attempts * ofCall));
  return Math.min(ofTools + Math.ceil(most.turns * ofCall), budget.max_seconds * 1000);
}
