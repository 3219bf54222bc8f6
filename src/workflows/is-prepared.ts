import { isCompletePolicy } from '../core/policy/check-policy.ts';
import { isRecord } from '../protocol/json.ts';
import type { PreparedRun } from '../protocol/run.ts';

/**
 * Checks that a prepared run has the shape that our client sends. Anything else is treated like a bare request: it is
 * checked and refused with a path. A wrong shape must not reach `core/run`, where it would cause a bug.
 */
export function isPrepared(value: unknown): value is PreparedRun {
  if (!isRecord(value)) return false;
  const {
    run_id,
    agent,
    goal,
    planner,
    plan,
    model,
    reviewer,
    policy,
    manifest,
    loop_id,
    labels,
    memory,
    helpers,
    inherited,
  } = value;
  return (
    [run_id, agent, goal, loop_id].every((text) => typeof text === 'string' && text !== '') &&
    (planner === 'given' || planner === 'chooses') &&
    (reviewer === 'rules' || reviewer === 'own' || reviewer === 'model') &&
    (helpers === undefined || isRecord(helpers)) &&
    (inherited === undefined || isInherited(inherited)) &&
    (model === null || typeof model === 'string') &&
    (plan === null || (isRecord(plan) && Array.isArray(plan['steps']))) &&
    isRecord(manifest) &&
    Object.values(manifest).every(isRecord) &&
    Array.isArray(labels) &&
    isRecord(memory) &&
    Array.isArray(memory['lessons']) &&
    isRecord(memory['enhancement']) &&
    isCompletePolicy(policy)
  );
}

const isInherited = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value['root_run_id'] === 'string' &&
  typeof value['lane'] === 'string' &&
  isRecord(value['done']) &&
  Array.isArray(value['unknown']) &&
  isRecord(value['earlier'] ?? {}) &&
  Array.isArray(value['kept'] ?? []) &&
  typeof value['fence'] === 'number';
