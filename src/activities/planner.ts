import type { Redact } from '../core/redaction/redact.ts';
import type { PlannerChoice, PlannerView } from '../core/run/ports.ts';
import { thinks } from '../define/define-agent.ts';
import type { Registry } from '../define/registry.ts';
import { planTurn } from '../model/plan-turn.ts';
import { choose, withLoopKeys } from './choose.ts';
import { WORKER_HAD_TO_STOP } from './left-behind.ts';
import { createMessageStore } from './message-store.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';
import type { ActivityStore } from './store-port.ts';

export interface PlannerDeps {
  registry: Registry;
  store: Pick<ActivityStore, 'artifacts'>;
  redact: Redact;
  /** Where a model is named that an agent does not name itself. */
  environment?: Record<string, string | undefined>;
}

/** `callModel`: one turn of the agent's planner or model, outside the workflow, because it is the outside world. */
export function createPlannerActivities({ registry, store, redact, environment = {} }: PlannerDeps) {
  const messages = createMessageStore(store.artifacts);
  return {
    callModel: (view: PlannerView): Promise<PlannerChoice> =>
      withHeartbeat(async (around) => {
        const agent = registry.agents.get(view.agent);
        const env = { ...around, redact, now: () => Date.now() };
        if (agent === undefined || !thinks(agent)) {
          return returnOrThrow(await choose(agent?.planner, view, env, agent?.tools));
        }
        let use = {};
        const reserved = (most: { tokens: number; cost_micro_usd: number }): void => {
          use = most;
          // Should the worker be lost, its last beat says what the turn may have used.
          around.heartbeat({ reserved: most });
        };
        const turn = await planTurn(agent, view, { ...env, store: messages, environment, reserved });
        const isLost = turn.class === 'cancelled' && around.stopped() === 'shutdown';
        const ended = turn.class === 'cancelled' ? { ...(isLost ? WORKER_HAD_TO_STOP : turn), ...use } : turn;
        const told = returnOrThrow<PlannerChoice>(ended);
        return { ...told, calls: withLoopKeys(told.calls, agent.tools) };
      }),
  };
}
