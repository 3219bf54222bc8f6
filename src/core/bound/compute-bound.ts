import type { Bound } from '../../protocol/run.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';
import { largestInfrastructureWait, largestLimit, largestWaitOfStep } from '../retry/index.ts';

export interface BoundQuestion {
  policy: Policy;
  /** Steps of the given plan; null for an agent that chooses: then the policy's `max_steps` is the plan. */
  planLength: number | null;
}

/**
 * The most that a run can take, from its policy and plan alone, whatever tools, models and people do. Every figure is
 * also a limit that the run enforces, so the bound is kept by construction.
 */
export function computeBound({ policy, planLength }: BoundQuestion): Bound {
  const { budget, humans, reruns, retry } = policy;
  const chooses = planLength === null;
  const loops = 1 + reruns.max_reruns + humans.max_overrides;
  const steps = chooses ? budget.max_steps : Math.min(budget.max_steps, planLength * loops);
  const attemptsOfStep = 1 + largestLimit(retry) + retry.worker_lost;
  const attempts = Math.min(budget.max_attempts, steps * attemptsOfStep + humans.max_questions);
  const turns = chooses ? budget.max_model_calls : 0;
  return {
    loops,
    steps,
    attempts,
    model_calls: turns,
    tokens: chooses ? budget.max_tokens : 0,
    cost_micro_usd: chooses ? budget.max_cost_micro_usd : 0,
    wait_ms: backOffMs(policy, steps, turns) + humans.max_questions * humans.deadline_ms * (1 + humans.chain.length),
  };
}

/** Waiting counts as running time, so the policy's seconds cap it too. */
function backOffMs(policy: Policy, steps: number, turns: number): number {
  const { retry } = policy;
  const ofStep = largestWaitOfStep(retry) + largestInfrastructureWait(retry);
  return Math.min((steps + turns) * ofStep, policy.budget.max_seconds * 1000);
}
