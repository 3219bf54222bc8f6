/** `secondwind/testing`: tests your agents with a simulator, a scripted planner and a scripted model. */
import type { PlannerView } from './core/run/ports.ts';
import type { Choice, Planner } from './define/define-agent.ts';

export {
  simulateRun,
  StuckRunError,
  type Simulated,
  type SimulationOptions,
  type World,
} from './testing/simulator/simulate-run.ts';
export {
  testAgent,
  type TestAnswer,
  type TestedAttempt,
  type TestedRun,
  type TestOptions,
} from './testing/test-agent.ts';
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

/**
 * Returns a planner that calls your function for every turn, to test an agent without a model.
 *
 * @example
 * ```ts
 * const planner = scriptedPlanner(({ steps }) => (steps.length === 0 ? { calls: [look] } : { calls: [], output: 'done' }));
 * ```
 */
export const scriptedPlanner = (choose: (view: PlannerView) => Promise<Choice> | Choice): Planner => ({ choose });
