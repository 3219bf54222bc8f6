import type { Redact } from '../core/redaction/index.ts';
import type { PlannerChoice, PlannerView } from '../core/run/index.ts';
import type { Registry } from '../define/registry.ts';
import { choose } from './choose.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';

/** `callModel`: one turn of the agent's planner, outside the workflow, because it is the user's code. */
export function createPlannerActivities({ registry, redact }: { registry: Registry; redact: Redact }) {
  return {
    callModel: (view: PlannerView): Promise<PlannerChoice> =>
      withHeartbeat(async (around) => {
        const agent = registry.agents.get(view.agent);
        const env = { ...around, redact, now: () => Date.now() };
        return returnOrThrow(await choose(agent?.planner, view, env, agent?.tools));
      }),
  };
}
