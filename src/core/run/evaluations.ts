import type { StepEvaluation } from '../../protocol/lessons.ts';
import { CAP } from '../../protocol/caps.ts';
import { isoTime } from '../../protocol/time.ts';
import { enhancementArm } from '../retry/enhancement-arm.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import type { Attempt, Step } from './attempts.ts';
import { hashCached } from './failure-records.ts';
import { keepLatest } from './outbox.ts';
import type { RunState } from './state.ts';

/**
 * Queues the evaluation of a step whose tool checks its own work, when its retries have ended. What a person allows after
 * that is not part of it. The monitors of retries count it once. It never starts a write of its own.
 */
export function readEvaluation(state: RunState, step: Step): void {
  if (!isEvaluated(state, step) || step.evaluated === true) return;
  const attempts = step.attempts.flatMap(evaluatedAttempt);
  if (attempts.length === 0) return;
  state.outbox.evaluations.push({
    run_id: state.run.run_id,
    step_id: step.step_id,
    agent: state.run.agent,
    model: modelOf(step),
    subject: hashCached(step.call.input),
    attempts,
    other_ms: Math.round(state.ledger.other_work?.ms ?? 0),
    other_cost_micro_usd: Math.round(state.ledger.other_work?.cost_micro_usd ?? 0),
    arm: enhancementArm(state.run),
    created_at: isoTime(state.updated_at),
  });
  step.evaluated = true;
  delete state.ledger.other_work;
  keepLatest(state.outbox.evaluations, CAP.outboxUses);
}

const isEvaluated = ({ run }: RunState, { kind, call }: Step): boolean =>
  kind === 'tool' && run.manifest[call.tool]?.evaluates === true;

/** Adds the new attempts of a step that is not evaluated to the other work of the run. What evaluations cost is compared with it. */
export function readOtherWork(state: RunState, step: Step): void {
  if (isEvaluated(state, step)) return;
  let { ms, cost_micro_usd } = state.ledger.other_work ?? { ms: 0, cost_micro_usd: 0 };
  for (let index = step.attempts_read; index < step.attempts.length; index += 1) {
    const { waited_ms = 0, outcome } = step.attempts[index] ?? {};
    ms += waited_ms + (outcome?.duration_ms ?? 0);
    cost_micro_usd += outcome?.cost_micro_usd ?? 0;
  }
  if (ms > 0 || cost_micro_usd > 0) state.ledger.other_work = { ms, cost_micro_usd };
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
