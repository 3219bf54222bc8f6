import { classifyError, factsOfError } from '../core/retry/index.ts';
import type { ReviewReport } from '../core/guardrails/index.ts';
import type { ReviewView } from '../core/run/index.ts';
import type { Redact } from '../core/redaction/index.ts';
import type { Registry } from '../define/registry.ts';
import { LIMIT } from '../protocol/limits.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';

/** `review`: the agent's own judgement of a finished loop, outside the workflow, because it is the user's code. */
export function createReviewActivities({ registry, redact }: { registry: Registry; redact: Redact }) {
  return {
    review: (view: ReviewView): Promise<{ class: 'ok'; review: ReviewReport }> =>
      withHeartbeat(async () => {
        const startedAt = Date.now();
        try {
          const reviewer = registry.agents.get(view.agent)?.review;
          if (reviewer === undefined) throw new TypeError(`The agent ${view.agent} has no reviewer on this worker.`);
          return { class: 'ok', review: await reviewer(view) };
        } catch (error) {
          const facts = factsOfError(error);
          return returnOrThrow<{ class: 'ok'; review: ReviewReport }>({
            class: 'failed',
            origin: 'tool',
            ...classifyError(facts, Date.now()),
            message_preview: redact(facts.message ?? '').slice(0, LIMIT.messagePreviewChars),
            duration_ms: Date.now() - startedAt,
          });
        }
      }),
  };
}
