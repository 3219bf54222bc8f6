import { salientLine } from '../core/failures/index.ts';
import type { Redact } from '../core/redaction/index.ts';
import { classifyError, factsOfError } from '../core/retry/index.ts';
import type { PlannerChoice, PlannerView } from '../core/run/index.ts';
import type { Registry } from '../define/registry.ts';
import { LIMIT } from '../protocol/limits.ts';
import { cancelActivity, failActivity, withHeartbeat } from './run-in-activity.ts';

/** `callModel`: one turn of the agent's planner, outside the workflow, because it is the user's code. */
export function createPlannerActivities({ registry, redact }: { registry: Registry; redact: Redact }) {
  return {
    callModel: (view: PlannerView): Promise<PlannerChoice> =>
      withHeartbeat(async (around) => {
        const startedAt = Date.now();
        const planner = registry.agents.get(view.agent)?.planner;
        try {
          if (planner === undefined) throw new TypeError(`The agent ${view.agent} has no planner on this worker.`);
          const choice = await planner.choose(view);
          return { class: 'ok', tokens: 0, cost_micro_usd: 0, ...choice, duration_ms: Date.now() - startedAt };
        } catch (error) {
          if (around.stopped() === 'cancelled') return cancelActivity();
          const facts = factsOfError(error);
          return failActivity({
            class: 'failed',
            origin: 'tool',
            ...classifyError(facts, Date.now()),
            message_preview: redact(salientLine(facts.message ?? '')).slice(0, LIMIT.messagePreviewChars),
            duration_ms: Date.now() - startedAt,
          });
        }
      }),
  };
}
