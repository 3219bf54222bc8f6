import type { Redact } from '../core/redaction/index.ts';
import type { Reviewed, ReviewOutcome, ReviewUse, ReviewView } from '../core/run/index.ts';
import type { Agent, ReviewOf } from '../define/define-agent.ts';
import type { Registry } from '../define/registry.ts';
import { askOrLeave, type TurnEnvironment } from './left-behind.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';

export interface ReviewDeps {
  registry: Registry;
  redact: Redact;
  /** Where a model is named that neither the reviewer nor its agent names. */
  environment?: Record<string, string | undefined>;
}

/** `review`: the agent's own judgement of a finished loop, outside the workflow, because it is the user's code. */
export function createReviewActivities({ registry, redact, environment = {} }: ReviewDeps) {
  return {
    review: (view: ReviewView): Promise<Reviewed> =>
      withHeartbeat(async (around) => {
        const env = { ...around, redact, now: () => Date.now(), environment };
        return returnOrThrow<Reviewed>(await reviewBy(registry.agents.get(view.agent), view, env));
      }),
  };
}

/** Asks an agent's reviewer. What it used is told whichever way it ended. */
export async function reviewBy(
  agent: Agent | undefined,
  view: ReviewView,
  env: TurnEnvironment & { environment: Record<string, string | undefined> },
): Promise<ReviewOutcome> {
  const used: Required<ReviewUse> = { tokens: 0, cost_micro_usd: 0, model_calls: 0 };
  const spend = (use: Required<ReviewUse>): void => {
    used.tokens += use.tokens;
    used.cost_micro_usd += use.cost_micro_usd;
    used.model_calls += use.model_calls;
  };
  const { signal, redact, now, environment } = env;
  const asked = await askOrLeave(
    () => {
      if (agent?.review === undefined) throw new TypeError(`The agent ${view.agent} has no reviewer on this worker.`);
      return agent.review(typedView(agent, view), { agent, signal, redact, now, environment, spend });
    },
    view.timeout_ms,
    env,
  );
  if (asked.class === 'cancelled') return asked;
  // A reviewer that asks no model adds nothing to history.
  const told = used.model_calls === 0 ? {} : used;
  return asked.class === 'ok' ? { class: 'ok', review: asked.value, ...told } : { ...asked, ...told };
}

/** What a schema cannot take, or cannot be asked at once, is no output of its type. */
function typedView({ output: schema }: Agent, view: ReviewView): ReviewOf {
  const { output: raw } = view;
  if (schema === undefined) return { ...view, raw_output: raw };
  try {
    const parsed = schema.safeParse(raw);
    return { ...view, output: parsed.success ? parsed.data : null, raw_output: raw };
  } catch {
    return { ...view, output: null, raw_output: raw };
  }
}
