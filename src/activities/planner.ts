import type { Redact } from '../core/redaction/redact.ts';
import type { PlannerChoice, PlannerView } from '../core/run/ports.ts';
import { thinks } from '../define/define-agent.ts';
import type { Registry } from '../define/registry.ts';
import { planTurn, type TurnDeltas } from '../model/plan-turn.ts';
import { askPlanner, withLoopKeys } from './ask-planner.ts';
import { WORKER_SHUTDOWN_FAILURE } from './ask-with-timeout.ts';
import type { Json } from '../protocol/json.ts';
import { isRecord } from '../protocol/json.ts';
import { createMessageStore, patientMessages } from './message-store.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';
import { sendDeltas } from './send-deltas.ts';
import type { ActivityStore } from './store-port.ts';
import { createStoreWait } from './wait-for-store.ts';

export interface PlannerDeps {
  registry: Registry;
  store: Pick<ActivityStore, 'artifacts' | 'modelDeltas'>;
  redact: Redact;
  maskKnown: Redact;
  /** False if nobody is to see answers while they arrive. Default: true. */
  streaming?: boolean;
  /** The length of the longest known secret that contains spaces. Streamed text lags behind by as much. */
  holdChars?: number;
  /** Says which model to use for agents that name none. */
  environment?: Record<string, string | undefined>;
}

/** Creates `callModel`: one turn of the agent's planner or model. */
export function createPlannerActivities(deps: PlannerDeps) {
  const { registry, store, redact, maskKnown, environment = {}, streaming = true, holdChars = 0 } = deps;
  const port = streaming ? store.modelDeltas : undefined;
  const messages = createMessageStore(store.artifacts);
  return {
    callModel: (view: PlannerView): Promise<PlannerChoice> =>
      withHeartbeat(async (call) => {
        const agent = registry.agents.get(view.agent);
        const env = { ...call, redact, now: () => Date.now() };
        if (agent === undefined || !thinks(agent)) {
          return returnOrThrow(await askPlanner(agent?.planner, view, env, agent?.tools));
        }
        let use: { tokens?: number; cost_micro_usd?: number } = {};
        const reserved = (most: { tokens: number; cost_micro_usd: number }): void => {
          use = most;
          // If the worker is lost, the last heartbeat tells how much the turn may have used.
          call.heartbeat({ reserved: most });
        };
        const beatWhileWaiting = (details: Json = null): void =>
          call.heartbeat({ ...(isRecord(details) ? details : {}), reserved: use });
        const store = patientMessages(messages, createStoreWait({ ...call, heartbeat: beatWhileWaiting }));
        const openDeltas = (redactAll: Redact): TurnDeltas | undefined =>
          port === undefined ? undefined : sendDeltas(port, view, { redact: redactAll, holdChars, now: env.now });
        const turn = await planTurn(agent, view, { ...env, maskKnown, store, environment, reserved, openDeltas });
        const isLost = turn.class === 'cancelled' && call.stopped() === 'shutdown';
        const ended = turn.class === 'cancelled' ? { ...(isLost ? WORKER_SHUTDOWN_FAILURE : turn), ...use } : turn;
        const told = returnOrThrow<PlannerChoice>(ended);
        return { ...told, calls: withLoopKeys(told.calls, agent.tools) };
      }),
  };
}
