import { LIMIT } from '../../protocol/limits.ts';
import { isoTime } from '../../protocol/time.ts';
import type { CallFailed, CallSucceeded } from '../../protocol/tools.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import { hashOnce } from './failure-records.ts';
import type { RunState, StepInFlight } from './state.ts';

/** One attempt of a tool whose work is checked; what the platform did to it is no attempt here. */
export function noteEvaluatedAttempt(state: RunState, step: StepInFlight, outcome: CallSucceeded | CallFailed): void {
  if (state.run.manifest[step.tool]?.evaluates !== true) return;
  if (outcome.class === 'failed' && isInfrastructure(outcome.category)) return;
  if (outcome.model !== undefined) step.evaluated_model = outcome.model;
  step.evaluated.push({
    ok: outcome.class === 'ok',
    category: outcome.class === 'ok' ? null : outcome.category,
    wait_ms: step.waited_ms,
    duration_ms: Math.round(outcome.duration_ms),
    cost_micro_usd: outcome.cost_micro_usd ?? 0,
    prompt_diff: outcome.prompt?.diff_id ?? null,
  });
}

/** The step has come to its end: it counts once, and travels with the next write. */
export function keepEvaluation(state: RunState, step: StepInFlight): void {
  if (step.evaluated.length === 0) return;
  const { evaluations } = state.outbox;
  evaluations.push({
    run_id: state.run.run_id,
    step_id: step.step_id,
    agent: state.run.agent,
    model: step.evaluated_model,
    subject: hashOnce(step.input),
    attempts: step.evaluated,
    created_at: isoTime(state.updated_at),
  });
  evaluations.splice(0, Math.max(0, evaluations.length - LIMIT.outboxUses));
}
