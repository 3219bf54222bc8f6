import type { ReviewReport } from '../core/guardrails/index.ts';
import type { Redact } from '../core/redaction/index.ts';
import type { ReviewView } from '../core/run/index.ts';
import type { Registry } from '../define/registry.ts';
import { askOrLeave } from './left-behind.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';

/** `review`: the agent's own judgement of a finished loop, outside the workflow, because it is the user's code. */
export function createReviewActivities({ registry, redact }: { registry: Registry; redact: Redact }) {
  return {
    review: (view: ReviewView): Promise<{ class: 'ok'; review: ReviewReport }> =>
      withHeartbeat(async ({ stopped, signal }) => {
        const ask = () => {
          const reviewer = registry.agents.get(view.agent)?.review;
          if (reviewer === undefined) throw new TypeError(`The agent ${view.agent} has no reviewer on this worker.`);
          return reviewer(view);
        };
        const asked = await askOrLeave(ask, view.timeout_ms, { redact, now: () => Date.now(), stopped, signal });
        return { class: 'ok', review: returnOrThrow(asked).value };
      }),
  };
}
