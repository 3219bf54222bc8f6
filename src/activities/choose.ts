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
  env: { redact: Redact; now: () => number; stopped: () => 'cancelled' | 'shutdown' | null },
): Promise<PlannerOutcome> {
  const startedAt = env.now();
  try {
    if (planner === undefined) throw new TypeError(`The agent ${view.agent} has no planner on this worker.`);
    const choice = await planner.choose(view);
    return { class: 'ok', tokens: 0, cost_micro_usd: 0, ...choice, duration_ms: env.now() - startedAt };
  } catch (error) {
    const duration_ms = env.now() - startedAt;
    if (env.stopped() === 'cancelled') return { class: 'cancelled', duration_ms };
    const facts = factsOfError(error);
    return {
      class: 'failed',
      origin: 'tool',
      ...classifyError(facts, env.now()),
      message_preview: env.redact(salientLine(facts.message ?? '')).slice(0, LIMIT.messagePreviewChars),
      duration_ms,
    };
  }
}
