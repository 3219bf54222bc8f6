import type { CallFailed } from '../../protocol/tools.ts';
import { escalate } from '../failures/escalation.ts';
import { failureOf } from '../failures/failure-memory.ts';
import { renderGuidance } from '../failures/render-guidance.ts';
import type { Escalation, FailureToDecide } from '../failures/escalation.ts';
import type { Stall } from '../failures/loop-watch.ts';
import { unpromised, worstCase } from './batch.ts';
import { noteEffect } from './effects.ts';
import { keepEvaluation } from './evaluations.ts';
import { turnsLeft } from './ledger.ts';
import { keepFailedAction, learnFromSuccess } from './lessons.ts';
import { correctionByHuman, foldStep, occurrencesOf, progressMade, humanAnswered } from './memory.ts';
import type { OutboxWriter } from './outbox.ts';
import { holdOutput } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import type { Answered } from './questions.ts';
import { askHuman } from './questions.ts';
import { escalationOfStall, letRun } from './stalls.ts';
import { effectOf, type Perform, runStep } from './step.ts';
import { budgetSpent, type Ending, endWith, type RunState, type StepInFlight, type StepResult } from './state.ts';

/**
 * Folds one ended step into the run, in step order, and decides what a failure for good leads to: on with new
 * guidance, a question to a person (whose answer may allow one more attempt), or the end.
 */
export async function settleStep(
  state: RunState,
  ports: RunPorts,
  writer: OutboxWriter,
  step: StepInFlight,
  perform: Perform,
): Promise<void> {
  for (;;) {
    foldStep(state, step);
    const how = step.end;
    if (how === null) return;
    if (how.kind === 'guided') return keepGuided(state, step, how.stall);
    if (how.kind === 'stuck') {
      if ((await settleStall(state, ports, step, how.stall)) === 'stays') return;
      await runStep(state, ports, writer, step, perform);
      continue;
    }
    if (how.kind === 'cancelled') return keepCancelled(state, step);
    if (how.kind === 'ok') return keepSuccess(state, step, how.outcome);
    if (how.kind === 'refused') return keep(state, step, { status: how.status, artifact_id: null });
    if (how.kind === 'budget') {
      if (grantMore(state, step, how.budget)) {
        await runStep(state, ports, writer, step, perform);
        continue;
      }
      keep(state, step, { status: 'failed', artifact_id: null, error_code: 'BUDGET' });
      return budgetSpent(state, how.budget);
    }
    if (state.ending !== null || state.cancel !== null) return keepFailure(state, step, how.failure);

    const next = decideFor(state, {
      kind: how.observed,
      exhausted: true,
      effect: effectOf(state, step),
      certainty: how.failure.certainty,
      planner: step.kind === 'planner' ? 'given' : state.run.planner,
      occurrences_since_progress: how.fingerprint === null ? 0 : occurrencesOf(state, how.fingerprint),
      escalate_at: state.run.policy.failures.escalate_at,
    });
    ports.log({ event: 'step_failed', step_id: step.step_id, reason: how.reason, action: next.action });
    if (next.action === 'adapt' || next.action === 'retry') return keepFailure(state, step, how.failure);
    if (next.action === 'system_error') {
      keepFailure(state, step, how.failure);
      return endWith(state, { outcome: 'system_error', reason: how.failure.error_code, why: next.why });
    }
    const answer = await askAboutFailure(state, ports, step, how.failure, how.fingerprint, next.why);
    if (state.cancel !== null) return keepFailure(state, step, how.failure);
    if (answer.decision !== 'retry' && answer.decision !== 'correct') {
      return giveUpStep(state, step, how.failure, answer);
    }
    if (how.fingerprint !== null) humanAnswered(state, how.fingerprint);
    if (answer.decision === 'correct') {
      correctionByHuman(state, step, answer, ports.now());
      writer.kick();
    }
    allowOneMore(state, step);
    await runStep(state, ports, writer, step, perform);
  }
}

/** Outside `enforce` a planner that can choose is never stopped for repeating a failure: budget and bound still end it. */
function decideFor(state: RunState, failure: FailureToDecide): Escalation {
  const decided = escalate(failure);
  const isGuard = decided.action === 'ask_human' && failure.occurrences_since_progress >= failure.escalate_at;
  const couldAdapt =
    failure.planner === 'chooses' && escalate({ ...failure, occurrences_since_progress: 0 }).action === 'adapt';
  if (state.run.policy.mode === 'enforce' || !isGuard || !couldAdapt) return decided;
  return { action: 'adapt', why: `would ask a person (${decided.why}), but the mode is ${state.run.policy.mode}` };
}

/**
 * The same calls again, and guidance did not help. The first time a person is asked, who may let the call run; when it has
 * been asked before, the run is broken and says so.
 */
async function settleStall(
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  stall: Stall,
): Promise<'stays' | 'runs'> {
  const next = escalationOfStall(state, stall);
  ports.log({ event: 'stuck', step_id: step.step_id, rule: stall.rule, repeats: stall.repeats, action: next.action });
  if (next.action === 'system_error') {
    keepGuided(state, step, stall);
    endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
    return 'stays';
  }
  const answer = await askHuman(state, ports, step, {
    text: `${step.tool} was called ${stall.repeats} times with nothing new (${stall.rule}), and guidance did not help. What should happen?`,
    fingerprint: stall.fingerprint,
    tried: [
      `calls ${stall.start} to ${stall.end}: ${stall.rule}`,
      'two more calls were answered with guidance instead',
    ],
    options: ['retry', 'correct', 'skip', 'stop'],
  });
  humanAnswered(state, stall.fingerprint);
  if (state.cancel === null && (answer.decision === 'retry' || answer.decision === 'correct')) {
    if (answer.decision === 'correct') correctionByHuman(state, step, answer, ports.now());
    letRun(state, step);
    return 'runs';
  }
  keepGuided(state, step, stall);
  if (answer.decision !== 'skip' && state.cancel === null) {
    endWith(state, { outcome: 'finalized', ...endingOf(answer, step.step_id) });
  }
  return 'stays';
}

/** Most steps succeed, and then there is nothing to wait for. */
export function keptAtOnce(state: RunState, step: StepInFlight): boolean {
  if (step.end?.kind !== 'ok') return false;
  foldStep(state, step);
  keepSuccess(state, step, step.end.outcome);
  return true;
}

function askAboutFailure(
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  failure: CallFailed,
  fingerprint: string | null,
  why: string,
): Promise<Answered> {
  const what = step.kind === 'planner' ? 'The planner' : `Step ${step.step_id} (${step.phase}, ${step.tool})`;
  const unsure = failure.certainty === 'unknown' && effectOf(state, step) === 'side_effect';
  return askHuman(state, ports, step, {
    text: unsure
      ? `${what} was started and gave no answer (${failure.error_code}); its effect may have happened. Try it again?`
      : `${what} failed (${failure.error_code} ${failure.message_preview}): ${why}. What should happen?`,
    fingerprint: fingerprint ?? undefined,
    tried: step.tried,
    options: step.kind === 'planner' ? ['retry', 'stop'] : ['retry', 'correct', 'skip', 'stop'],
  });
}

/**
 * A parallel step may have had a small share because its neighbours might have needed theirs. Now that they are done,
 * what they did not need is there for it: in step order, so it is always the same step that gets it.
 */
function grantMore(state: RunState, step: StepInFlight, budget: string): boolean {
  const left = step.kind === 'tool' && budget === 'attempts' ? unpromised(state, step) : 0;
  if (left === 0 || state.cancel !== null || state.ending !== null) return false;
  step.granted = step.attempt + Math.min(left, worstCase(state.run.policy.retry));
  step.end = null;
  return true;
}

function allowOneMore(state: RunState, step: StepInFlight): void {
  const forLostWorkers = state.run.policy.retry.worker_lost - step.infrastructure_used;
  const left = step.kind === 'planner' ? turnsLeft(state.run, state.ledger) : unpromised(state, step);
  step.granted = step.attempt + Math.min(1 + forLostWorkers, left);
  step.single_attempt = true;
  step.owed_wait_ms = 0;
  step.end = null;
}

/** Skip leaves the step out and goes on; everything else ends the run and keeps what it has. */
function giveUpStep(state: RunState, step: StepInFlight, failure: CallFailed, answer: Answered): void {
  if (answer.decision === 'skip') {
    return keep(state, step, { status: 'skipped', artifact_id: null, error_code: failure.error_code });
  }
  keepFailure(state, step, failure);
  const { reason, why } = endingOf(answer, step.step_id);
  // Who decided knows what about; where nobody did, the ending has to say it.
  const about = answer.by === null ? `; what was to be decided: ${failure.error_code} ${failure.message_preview}` : '';
  endWith(state, { outcome: 'finalized', reason, why: why + about });
}

/** Why a run that asked was stopped: the four are different facts. */
export const endingOf = ({ kind, by }: Answered, stepId: number): Omit<Ending, 'outcome'> =>
  ({
    answered: { reason: 'stopped_by_human', why: `${by ?? 'a person'} stopped the run at step ${stepId}` },
    denied: { reason: 'stopped_by_human', why: `${by ?? 'a person'} denied step ${stepId}` },
    timed_out: { reason: 'question_timed_out', why: 'nobody answered in time, so the policy stopped the run' },
    policy: { reason: 'no_question_left', why: 'the run may ask no more questions, so the policy stopped it' },
  })[kind];

function keepSuccess(
  state: RunState,
  step: StepInFlight,
  outcome: Extract<NonNullable<StepInFlight['end']>, { kind: 'ok' }>['outcome'],
): void {
  if (step.kind === 'planner') return;
  const isNew = !state.loop.results.some((result) => result.artifact_id === outcome.artifact_id);
  if (isNew) progressMade(state);
  if (outcome.inline) holdOutput(state, outcome);
  if (outcome.unsaved) state.outbox.lost += 1;
  noteEffect(state, step, outcome);
  // What was done in an earlier pass teaches nothing now.
  if (step.attempt > 0) learnFromSuccess(state, step, outcome);
  const detected = outcome.detected?.feedback_type;
  keep(state, step, {
    status: 'ok',
    artifact_id: outcome.artifact_id,
    ...(detected === undefined ? {} : { detected }),
  });
}

/** Cancelled before it began leaves nothing to tell; a side effect that had begun may have happened. */
function keepCancelled(state: RunState, step: StepInFlight): void {
  if (step.attempt === 0) return;
  const unsure = effectOf(state, step) === 'side_effect';
  keep(state, step, { status: 'cancelled', artifact_id: null, ...(unsure && { error_code: 'EFFECT_UNKNOWN' }) });
}

function keepGuided(state: RunState, step: StepInFlight, stall: Stall): void {
  const failure = failureOf(state.failures, stall.fingerprint);
  keep(state, step, {
    status: 'guided',
    artifact_id: null,
    error_code: stall.rule,
    ...(failure === undefined ? {} : { message_preview: renderGuidance(failure) }),
  });
}

function keepFailure(state: RunState, step: StepInFlight, failure: CallFailed): void {
  keepFailedAction(state, step);
  keep(state, step, {
    status: 'failed',
    artifact_id: null,
    error_code: failure.error_code,
    message_preview: failure.message_preview,
  });
}

function keep(
  state: RunState,
  step: StepInFlight,
  how: Pick<StepResult, 'status' | 'artifact_id' | 'error_code' | 'message_preview' | 'detected'>,
): void {
  if (step.kind === 'planner') return;
  keepEvaluation(state, step);
  state.loop.results.push({
    step_id: step.step_id,
    plan_index: step.plan_index,
    phase: step.phase,
    tool: step.tool,
    input: step.plan_index === null ? step.input : null,
    ...(step.plan_index === null && { turn: state.loop.turn }),
    ...(step.call_id === undefined ? {} : { call_id: step.call_id }),
    attempts: step.attempt,
    ...how,
  });
}
