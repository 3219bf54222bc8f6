/** `secondwind/testing`: what people test their own agents with. */
import type { PlannerView } from './core/run/index.ts';
import type { Choice, Planner } from './define/define-agent.ts';

export {
  simulateRun,
  StuckRunError,
  type Simulated,
  type SimulationOptions,
  type World,
} from './simulator/simulate-run.ts';
export type { Choice, Planner, PlannerView };
export * from './testing/scripted-model/index.ts';

/** A planner that chooses by a function of yours: the stand-in for a model. */
export const scriptedPlanner = (choose: (view: PlannerView) => Promise<Choice> | Choice): Planner => ({ choose });
