import type { StepEvaluation } from '../../protocol/lessons.ts';
import { CAP } from '../../protocol/caps.ts';
import { isoTime } from '../../protocol/time.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import type { Attempt, Step } from './attempts.ts';
import { hashCached } from './failure-records.ts';
import { keepLatest } from './outbox.ts';
import type { RunState } from './state.ts';

/**
 * Queues the evaluation of a finished step whose tool checks its own work. The monitors of retries count it once. It
 * never starts a write of its own.
 */
export function readEvaluation(state: RunState, step: Step): void {
  if (state.run.manifest[step.call.tool]?.evaluates !== true) return;
  const attempts = step.attempts.flatMap(evaluatedAttempt);
  if (attempts.length === 0) return;
  state.outbox.evaluations.push({
    run_id: state.run.run_id,
    step_id: step.step_id,
    agent: state.run.agent,
    model: modelOf(step),
    subject: hashCached(step.call.input),
    attempts,
    created_at: isoTime(state.updated_at),
  });
  keepLatest(state.outbox.evaluations, CAP.outboxUses);
}

/** Leaves out attempts whose worker was lost, because they say nothing about the quality of the work. */
function evaluatedAttempt({ outcome, waited_ms }: Attempt): StepEvaluation['attempts'] {
  if (outcome === null || outcome.class === 'cancelled') return [];
  if (outcome.class === 'failed' && isInfrastructure(outcome.category)) return [];
  return [
    {
      ok: outcome.class === 'ok',
      category: outcome.class === 'ok' ? null : outcome.category,
      wait_ms: waited_ms,
      duration_ms: Math.round(outcome.duration_ms),
      cost_micro_usd: outcome.cost_micro_usd ?? 0,
      prompt_diff: outcome.prompt?.diff_id ?? null,
    },
  ];
}

function modelOf(step: Step): string | null {
  const named = step.attempts.findLast(
    ({ outcome }) => outcome !== null && outcome.class !== 'cancelled' && outcome.model !== undefined,
  );
  return named?.outcome !== null && named?.outcome !== undefined && 'model' in named.outcome
    ? (named.outcome.model ?? null)
    : null;
}
