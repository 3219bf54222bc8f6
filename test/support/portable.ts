import { mergePolicy } from '../../src/core/policy/merge-policy.ts';
import type { Scene } from '../../src/testing/simulator/hostile/scene.ts';

/**
 * The same scene for a world with a real clock: waits of milliseconds, no budget of seconds, no lost workers, and
 * people who answer only when asked, or never. Then time does not affect the result, so both worlds must end the same
 * way.
 */
export function portable(scene: Scene): Scene {
  const { policy, character } = scene;
  const { retry, budget, humans } = policy;
  const deadline_ms = character.people === 'silent' ? 200 : 120_000;
  const patch = {
    ...scene.request.policy,
    retry: {
      ...retry,
      base_ms: Math.min(retry.base_ms, 4),
      factor: Math.min(retry.factor, 2),
      max_wait_ms: Math.min(retry.max_wait_ms, 20),
    },
    budget: { ...budget, max_seconds: 86_400 },
    humans: { ...humans, deadline_ms },
  };
  return {
    ...scene,
    policy: mergePolicy(patch),
    character: { ...character, instant: true, timely: true, deploys: false },
    request: { ...scene.request, policy: patch },
  };
}
