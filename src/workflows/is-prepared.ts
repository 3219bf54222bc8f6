import { isWholePolicy } from '../core/policy/check-policy.ts';
import { isRecord } from '../protocol/json.ts';
import type { PreparedRun } from '../protocol/run.ts';

/**
 * Only our client prepares runs, and what it sends has this shape. Anything else that calls itself prepared goes the way of
 * any request: it is checked, or refused with its path. A wrong shape must never reach the story, where it would be a bug.
 */
export function isPrepared(value: unknown): value is PreparedRun {
  if (!isRecord(value)) return false;
  const { run_id, agent, goal, planner, plan, model, reviewer, policy, manifest, loop_id, labels, memory, helpers } =
    value;
  return (
    [run_id, agent, goal, loop_id].every((text) => typeof text === 'string' && text !== '') &&
    (planner === 'given' || planner === 'chooses') &&
    (reviewer === 'rules' || reviewer === 'own' || reviewer === 'model') &&
    (helpers === undefined || isRecord(helpers)) &&
    (model === null || typeof model === 'string') &&
    (plan === null || (isRecord(plan) && Array.isArray(plan['steps']))) &&
    isRecord(manifest) &&
    Object.values(manifest).every(isRecord) &&
    Array.isArray(labels) &&
    isRecord(memory) &&
    Array.isArray(memory['lessons']) &&
    isRecord(memory['enhancement']) &&
    isWholePolicy(policy)
  );
}
