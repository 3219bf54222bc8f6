import type { Redact } from '../core/redaction/redact.ts';
import type { Reviewed, ReviewOutcome, ReviewUse, ReviewView } from '../core/run/ports.ts';
import { previewOf } from '../core/run/steps-to-judge.ts';
import type { Agent, ReviewOf } from '../define/define-agent.ts';
import type { Registry } from '../define/registry.ts';
import type { Json } from '../protocol/json.ts';
import { CAP } from '../protocol/caps.ts';
import { askWithTimeout, type AskEnvironment } from './ask-with-timeout.ts';
import { returnOrThrow, withHeartbeat } from './run-in-activity.ts';
import type { ActivityStore } from './store-port.ts';

export interface ReviewDeps {
  registry: Registry;
  store: Pick<ActivityStore, 'artifacts'>;
  redact: Redact;
  maskKnown: Redact;
  /** Says which model to use if neither the reviewer nor its agent names one. */
  environment?: Record<string, string | undefined>;
}

/** Creates `review`: asks the agent's reviewer to judge a finished loop. */
export function createReviewActivities({ registry, store, redact, maskKnown, environment = {} }: ReviewDeps) {
  return {
    review: (view: ReviewView): Promise<Reviewed> =>
      withHeartbeat(async (call) => {
        const env = { ...call, redact, maskKnown, now: () => Date.now(), environment };
        const whole = await withStoredOutputs(view, store.artifacts);
        return returnOrThrow<Reviewed>(await askReviewer(registry.agents.get(view.agent), whole, env));
      }),
  };
}

/** Only the latest outputs are fetched, so that a review does not read the whole store. */
const STORED_OUTPUTS = 20;

/**
 * Adds outputs that the run no longer holds, from the store. A step whose output is not found is judged by how it
 * ended.
 */
export async function withStoredOutputs(
  view: ReviewView,
  artifacts: Pick<ActivityStore['artifacts'], 'getMany'>,
): Promise<ReviewView> {
  const missing = view.steps
    .filter(({ status, input, output }) => status === 'ok' && input !== undefined && output === undefined)
    .flatMap(({ artifact_id }) => artifact_id ?? [])
    .slice(-STORED_OUTPUTS);
  if (missing.length === 0) return view;
  // A review does not depend on the store: if it is unavailable, the outputs are left out.
  const found = await artifacts.getMany([...new Set(missing)]).catch(() => []);
  const shown = new Map(found.map(({ id, bytes }) => [id, previewOfBytes(bytes)]));
  const steps = view.steps.map((step) => {
    const output = step.output === undefined && step.artifact_id !== null ? shown.get(step.artifact_id) : undefined;
    return output === undefined ? step : { ...step, output };
  });
  return { ...view, steps };
}

function previewOfBytes(bytes: Uint8Array): Json {
  const text = new TextDecoder().decode(bytes.subarray(0, 4 * CAP.reviewedChars + 4));
  try {
    return previewOf(JSON.parse(text) as Json);
  } catch {
    return previewOf(text);
  }
}

/** Asks an agent's reviewer. The outcome contains the tokens and cost it used, even if the review failed. */
export async function askReviewer(
  agent: Agent | undefined,
  view: ReviewView,
  env: AskEnvironment & { environment: Record<string, string | undefined>; maskKnown?: Redact },
): Promise<ReviewOutcome> {
  const used: Required<ReviewUse> = { tokens: 0, cost_micro_usd: 0, model_calls: 0 };
  const spend = (use: Required<ReviewUse>): void => {
    used.tokens += use.tokens;
    used.cost_micro_usd += use.cost_micro_usd;
    used.model_calls += use.model_calls;
  };
  const { signal, redact, maskKnown, now, environment } = env;
  const asked = await askWithTimeout(
    () => {
      if (agent?.review === undefined) throw new TypeError(`The agent ${view.agent} has no reviewer on this worker.`);
      const known = maskKnown === undefined ? {} : { maskKnown };
      return agent.review(typedView(agent, view), { agent, signal, redact, ...known, now, environment, spend });
    },
    view.timeout_ms,
    env,
  );
  if (asked.class === 'cancelled') return asked;
  // A reviewer that calls no model adds no usage fields to history.
  const told = used.model_calls === 0 ? {} : used;
  return asked.class === 'ok' ? { class: 'ok', review: asked.value, ...told } : { ...asked, ...told };
}

/**
 * Parses the output with the agent's schema. If it does not fit, or the schema is asynchronous, the view has no typed
 * output.
 */
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
