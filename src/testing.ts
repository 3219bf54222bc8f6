/** `secondwind/testing`: what people test their own agents with. */
import type { PlannerView } from './core/run/ports.ts';
import type { Choice, Planner } from './define/define-agent.ts';

export {
  simulateRun,
  StuckRunError,
  type Simulated,
  type SimulationOptions,
  type World,
} from './testing/simulator/simulate-run.ts';
export type { Choice, Planner, PlannerView };
export { scriptedModel, type ScriptedModel } from './testing/scripted-model/language-model.ts';
export type { Exchange, ScriptedCounts } from './testing/scripted-model/player.ts';
export type {
  Reply,
  Script,
  ScriptedCall,
  ScriptedRequest,
  ScriptedTool,
  ScriptedTurn,
  ScriptedUsage,
} from './testing/scripted-model/script.ts';
export {
  serveScriptedModel,
  type ScriptedServer,
  type ScriptedServerOptions,
} from './testing/scripted-model/server.ts';

/** A planner that chooses by a function of yours: the stand-in for a model. */
export const scriptedPlanner = (choose: (view: PlannerView) => Promise<Choice> | Choice): Planner => ({ choose });
