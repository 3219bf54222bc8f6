import { RunRequestError } from '../../../protocol/errors.ts';
import { prepareRun } from '../../../define/prepare-run.ts';
import { createRegistry } from '../../../define/registry.ts';
import type { RunState } from '../../../core/run/state.ts';
import type { Bound, RunResult } from '../../../protocol/run.ts';
import { simulateRun, type Simulated } from '../simulate-run.ts';
import { createHostileAgents } from './agents.ts';
import { type Figures, measureFigures } from './figures.ts';
import { drawScene, type Scene } from './scene.ts';
import { createHostileWorld, type WorldRules } from './world.ts';

export interface SceneResult {
  simulated: Simulated;
  result: RunResult;
  used: Figures;
  bound: Bound;
  /** Side effects that happened, and how many of them again without a person's `not_done`. */
  effects: number;
  effects_twice: number;
}

/** Checks requests before a start. Its functions are only used by workers; in the simulator the world answers. */
const registry = createRegistry(createHostileAgents((seed) => drawScene(seed)));

/** Runs one hostile scene to its end, with a continue-as-new now and then. Throws if the run does not end. */
export async function runScene(scene: Scene, rules: WorldRules = {}): Promise<SceneResult> {
  const outcome = prepareRun(scene.request, registry, `hostile-${scene.seed}`);
  // Drawn policies are always valid, but a policy that was passed in may not be.
  if (!outcome.ok) throw new RunRequestError(outcome.problems);
  const { bound } = outcome.prepared;
  const { world, seen } = createHostileWorld(scene, 100 + 2 * (bound.attempts + bound.model_calls), registry, rules);
  const simulated = await simulateRun(outcome.prepared, {
    world,
    seed: scene.seed,
    handOverShare: 0.1,
    disturb: rules.forgetsUnknown === true ? forgetUnknown : undefined,
  });
  const { result } = simulated;
  const { receiver } = seen;
  receiver.wakeAll();
  const { effects, effects_twice } = receiver;
  return { simulated, result, used: measureFigures(simulated, result, seen), bound, effects, effects_twice };
}

function forgetUnknown({ effects }: RunState): void {
  effects.unknown = [];
}
