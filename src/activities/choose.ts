import { salientLine } from '../core/failures/index.ts';
import type { Redact } from '../core/redaction/index.ts';
import { classifyError, factsOfError } from '../core/retry/index.ts';
import type { PlannerOutcome, PlannerView } from '../core/run/index.ts';
import type { Planner } from '../define/define-agent.ts';
import { LIMIT } from '../protocol/limits.ts';

/** Asks a planner for its choice and tells what it threw as a value. No Temporal in here: the simulator asks the same way. */
export async function choose(
  planner: Planner | undefined,
  view: PlannerView,
  env: { redact: Redact; now: () => number; stopped: () => 'cancelled' | 'shutdown' | null; signal: AbortSignal },
): Promise<PlannerOutcome> {
  const startedAt = env.now();
  const over = new AbortController();
  try {
    if (planner === undefined) throw new TypeError(`The agent ${view.agent} has no planner on this worker.`);
    // A planner knows no signal: when the work has to stop it is left behind, and its late answer is not waited for.
    const choice = await Promise.race([planner.choose(view), rejectedBy(env.signal, over.signal)]);
    return { class: 'ok', tokens: 0, cost_micro_usd: 0, ...choice, duration_ms: env.now() - startedAt };
  } catch (error) {
    const duration_ms = env.now() - startedAt;
    if (env.stopped() === 'cancelled') return { class: 'cancelled', duration_ms };
    if (env.stopped() === 'shutdown') return { ...WORKER_HAD_TO_STOP, duration_ms };
    const facts = factsOfError(error);
    return {
      class: 'failed',
      origin: 'tool',
      ...classifyError(facts, env.now()),
      message_preview: env.redact(salientLine(facts.message ?? '')).slice(0, LIMIT.messagePreviewChars),
      duration_ms,
    };
  } finally {
    over.abort();
  }
}

/** A deploy must not look like a planner that fails. */
const WORKER_HAD_TO_STOP = {
  class: 'failed',
  certainty: 'unknown',
  origin: 'infrastructure',
  category: 'worker_lost',
  error_code: 'WORKER_SHUTDOWN',
  message_preview: 'the worker had to stop while the planner was choosing',
} as const;

const rejectedBy = (signal: AbortSignal, over: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: over });
  });
