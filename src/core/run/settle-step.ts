import type { UnknownEffect } from '../../protocol/effects.ts';
import { escalate, type Escalation, type FailureToDecide } from '../failures/escalation.ts';
import type { Stall } from '../failures/loop-watch.ts';
import { maxAttemptsPerStep } from '../retry/strategies.ts';
import {
  type Allowance,
  artifactOf,
  attemptCount,
  lastFailure,
  retriesUsed,
  type Step,
  type StepEnd,
  successOf,
} from './attempts.ts';
import { unreservedAttempts } from './batch.ts';
import { closeCorrections, recordCorrection } from './corrections.ts';
import { describeAttempts } from './describe-attempts.ts';
import { holdIfUnknown, recordEffect, recordOpenEffect } from './effects.ts';
import { readEvaluation, readOtherWork } from './evaluations.ts';
import { countCost, noteProgressOfStep } from './figures.ts';
import { actionInMode, recordDecision } from './guard-decisions.ts';
import { effectOf, isEffectDone, isEffectUnknown } from './known-effects.ts';
import { questionsLeft, turnsLeft } from './ledger.ts';
import { keepRecalled, learnFromSuccess, readLessonUses } from './lessons.ts';
import { endForBudget, type Ending, endWith, isOver } from './life.ts';
import { holdOutput, noteCarriedOutput } from './outbox.ts';
import { type QuestionOutcome, askHuman, describeLeaving } from './questions.ts';
import { recordHumanAnswer, occurrencesOf, recordProgress, readFailures } from './read-failures.ts';
import { readRefinements } from './refinements.ts';
import { type Perform, runStep } from './run-step.ts';
import { leaveOpen, settleEffect } from './settle-effect.ts';
import { allowStalledCall, forgetStalls, recordStallEscalation, stallEscalation } from './stalls.ts';
import type { RunState } from './state.ts';
import { readTrials } from './trials.ts';
import type { Story } from './story.ts';
import { keepCancelled, keepFailure, keepGuided, keepStep } from './keep-step.ts';

/**
 * Settles one ended step. The caller does this in step order. If the step failed for good, this decides what follows:
 * continue with new guidance, ask a person (whose answer may allow one more attempt), or end the run.
 */
export async function settleStep(story: Story, step: Step, perform: Perform): Promise<void> {
  const { state } = story;
  for (;;) {
    readStep(state, step);
    const { end } = step;
    if (end === null) return;
    switch (end.kind) {
      case 'ok':
      case 'reused':
      case 'confirmed':
        return keepSuccess(state, step);
      case 'skipped':
      case 'refused':
      case 'unknown':
        return keepStep(state, step);
      case 'held': {
        // A sub-run that worked beside this step may have settled the effect meanwhile.
        const isOpen = state.effects.unknown.some(({ key }) => key === end.effect.key);
        const allowed = isOpen ? await settleHeld(story, step, end.effect) : undefined;
        if (allowed === null) return;
        step.end = null;
        await runStep(story, step, perform, allowed);
        break;
      }
      case 'guided':
        return keepGuided(state, step, end.stall);
      case 'cancelled':
        return keepCancelled(state, step);
      case 'stuck': {
        const allowed = await settleStall(story, step, end.stall);
        if (allowed === null) return;
        // A person who lets a stalled call run has not said what became of an identical call of unknown outcome.
        if (!holdIfUnknown(story, step)) await runStep(story, step, perform, allowed);
        break;
      }
      case 'budget':
        if (!grantMore(state, step, end.budget)) {
          keepStep(state, step);
          return endForBudget(state, end.budget);
        }
        await runStep(story, step, perform);
        break;
      case 'failed': {
        const allowed = await settleFailure(story, step, end);
        if (allowed === null) return;
        allowOneMore(state, step);
        await runStep(story, step, perform, allowed);
      }
    }
  }
}

/**
 * Settles a successful step synchronously, because most steps succeed and there is nothing to wait for. Returns false
 * for any other step.
 */
export function settleSuccess(state: RunState, step: Step): boolean {
  if (step.end?.kind !== 'ok') return false;
  readStep(state, step);
  keepSuccess(state, step);
  return true;
}

/** Reads the new attempts into the lessons and the failure memory. */
function readStep(state: RunState, step: Step): void {
  readOtherWork(state, step);
  countCost(state, step);
  if (step.end?.kind === 'ok' || step.end?.kind === 'failed') readEvaluation(state, step);
  readRefinements(state, step);
  readTrials(state, step);
  keepRecalled(state, step);
  readLessonUses(state, step);
  readFailures(state, step);
}

/** Decides what follows a step that failed for good. Returns a person's permission for one more attempt, or null. */
async function settleFailure(
  story: Story,
  step: Step,
  { reason }: Extract<StepEnd, { kind: 'failed' }>,
): Promise<Allowance | null> {
  const { state, ports } = story;
  const failure = lastFailure(step);
  const effect = recordOpenEffect(state, step, failure);
  if (failure === null || isOver(state)) {
    if (effect !== null) leaveOpen(step, effect, null);
    return keepFailure(state, step);
  }
  const record = step.attempts.at(-1)?.record;
  const next = decideNext(story, step, {
    kind: record?.observed_outcome.kind ?? 'exception',
    exhausted: true,
    effect: effectOf(state, step),
    certainty: failure.certainty,
    planner: step.kind === 'planner' ? 'given' : state.run.planner,
    occurrences_since_progress: record === undefined ? 0 : occurrencesOf(state, record.fingerprint),
    escalate_at: state.run.policy.failures.escalate_at,
  });
  ports.log({ event: 'step_failed', step_id: step.step_id, reason, action: next.action });
  if (next.action === 'adapt' || next.action === 'retry') return keepFailure(state, step);
  if (next.action === 'system_error') {
    keepFailure(state, step);
    endWith(state, { outcome: 'system_error', reason: failure.error_code, why: next.why });
    return null;
  }
  if (isEffectUnknown(state, step, failure) || isEffectDone(state, step, failure)) {
    return settleOpenEffect(story, step, effect);
  }
  const answer = await askAboutFailure(story, step, next.why);
  if (isOver(state)) return keepFailure(state, step);
  const allowed = toAllowance(answer);
  if (allowed === null) return giveUpStep(state, step, answer);
  if (record !== undefined) recordHumanAnswer(state, record.fingerprint);
  if (allowed.decision === 'correct') {
    recordCorrection(state, step, { ...allowed, fingerprint: record?.fingerprint }, ports.now());
    story.outbox.start();
    if (isChosen(state, step)) return keepFailure(state, step);
  }
  return allowed;
}

/**
 * Decides by the escalation rules. Outside `enforce` mode a planner that can choose is not stopped for repeating a
 * failure; the budget still ends the run.
 */
function decideNext(story: Story, step: Step, failure: FailureToDecide): Escalation {
  const { state } = story;
  const decided = escalate(failure);
  const isGuard = decided.action === 'ask_human' && failure.occurrences_since_progress >= failure.escalate_at;
  const couldAdapt =
    failure.planner === 'chooses' && escalate({ ...failure, occurrences_since_progress: 0 }).action === 'adapt';
  if (!isGuard || !couldAdapt) return decided;
  const fingerprint = step.attempts.at(-1)?.record?.fingerprint ?? null;
  const action = actionInMode(state, 'ask_human');
  const subject = { step_id: step.step_id, fingerprint };
  recordDecision(story, { kind: 'escalation', rule: 'same_failure', action, why: decided.why, ...subject });
  if (state.run.policy.mode === 'enforce') return decided;
  return { action: 'adapt', why: `would ask a person (${decided.why}), but the mode is ${state.run.policy.mode}` };
}

function askAboutFailure(story: Story, step: Step, why: string): Promise<QuestionOutcome> {
  const failure = lastFailure(step);
  const { phase, tool } = step.call;
  const what = step.kind === 'planner' ? 'The planner' : `Step ${step.step_id} (${phase}, ${tool})`;
  const said = failure === null ? '' : `${failure.error_code} ${failure.message_preview}`;
  return askHuman(story, {
    kind: 'failure',
    step,
    text: `${what} failed (${said}): ${why}. What should happen?`,
    fingerprint: step.attempts.at(-1)?.record?.fingerprint,
    tried: describeAttempts(step),
    options: step.kind === 'planner' ? ['retry', 'stop'] : ['retry', 'correct', 'skip', 'stop'],
  });
}

/** Asks a person what became of a side effect. Returns the permission to run it again, or null. */
async function settleOpenEffect(story: Story, step: Step, effect: UnknownEffect | null): Promise<Allowance | null> {
  const { state } = story;
  const record = step.attempts.at(-1)?.record;
  const settled = await settleEffect(story, step, effect);
  if (settled.kind === 'run') {
    if (record !== undefined) recordHumanAnswer(state, record.fingerprint);
    return settled.allowed;
  }
  if (step.end?.kind === 'confirmed') keepSuccess(state, step);
  else keepFailure(state, step);
  if (settled.kind === 'stop') {
    const { reason, why } = endingAfter(settled.answer, step.step_id);
    const open = effect === null ? '' : `; it is unknown whether step ${step.step_id} (${step.call.tool}) took effect`;
    endWith(state, { outcome: 'finalized', reason, why: why + open });
  }
  return null;
}

/**
 * Answers a call that is identical to an effect of unknown outcome with what is known. A person is asked again while
 * questions are left, and may let it run. Returns the permission to run, or null.
 */
async function settleHeld(story: Story, step: Step, effect: UnknownEffect): Promise<Allowance | null> {
  const { state } = story;
  if (isOver(state) || questionsLeft(state) === 0) {
    leaveOpen(step, effect, null);
    keepStep(state, step);
    return null;
  }
  return settleOpenEffect(story, step, effect);
}

/**
 * Decides about a call that repeats although guidance was shown. The first time a person is asked and may let the call
 * run. If a person was asked before, the run ends with a system error. Returns the permission to run, or null.
 */
async function settleStall(story: Story, step: Step, stall: Stall): Promise<Allowance | null> {
  const { state, ports } = story;
  const next = stallEscalation(state, stall);
  ports.log({ event: 'stuck', step_id: step.step_id, rule: stall.rule, repeats: stall.repeats, action: next.action });
  recordStallEscalation(story, step, stall, next);
  if (next.action === 'system_error') {
    keepGuided(state, step, stall);
    endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
    return null;
  }
  const answer = await askHuman(story, {
    kind: 'stuck',
    step,
    text: `${step.call.tool} was called ${stall.repeats} times without a new result (${stall.rule}), and guidance did not help. What should happen?`,
    fingerprint: stall.fingerprint,
    tried: [
      `calls ${stall.start} to ${stall.end}: ${stall.rule}`,
      'two more calls were answered with guidance instead',
    ],
    options: ['retry', 'correct', 'skip', 'stop'],
  });
  recordHumanAnswer(state, stall.fingerprint);
  const allowed = isOver(state) ? null : toAllowance(answer);
  if (allowed?.decision === 'retry') {
    allowStalledCall(state, step);
    return allowed;
  }
  keepGuided(state, step, stall);
  if (allowed?.decision === 'correct') {
    recordCorrection(state, step, { ...allowed, fingerprint: stall.fingerprint }, ports.now());
    forgetStalls(state);
    story.outbox.start();
  } else if (answer.decision !== 'skip') endWith(state, { outcome: 'finalized', ...endingAfter(answer, step.step_id) });
  return null;
}

/** A call that the planner chose goes back to the planner with the correction. Only a given plan repeats the call itself. */
const isChosen = ({ run }: RunState, step: Step): boolean => run.planner === 'chooses' && step.kind === 'tool';

const toAllowance = ({ decision, text, by }: QuestionOutcome): Allowance | null =>
  decision === 'retry' || decision === 'correct' ? { decision, text, by } : null;

/**
 * Grants a step the attempts that parallel steps did not use. Its first share may have been small because the others
 * might have needed theirs. Steps are settled in order, so it is always the same step that gets them.
 */
function grantMore(state: RunState, step: Step, budget: string): boolean {
  const left = step.kind === 'tool' && budget === 'attempts' ? unreservedAttempts(state, step) : 0;
  if (left === 0 || isOver(state)) return false;
  step.granted = attemptCount(step) + Math.min(left, maxAttemptsPerStep(state.run.policy.retry));
  step.end = null;
  return true;
}

function allowOneMore(state: RunState, step: Step): void {
  const forLostWorkers = state.run.policy.retry.worker_lost - retriesUsed(step).infrastructure;
  const left = step.kind === 'planner' ? turnsLeft(state) : unreservedAttempts(state, step);
  step.granted = attemptCount(step) + Math.min(1 + forLostWorkers, left);
  step.end = null;
}

/**
 * Gives up a failed step. `skip` continues with the next step; every other answer ends the run and keeps its results.
 */
function giveUpStep(state: RunState, step: Step, answer: QuestionOutcome): null {
  const failure = lastFailure(step);
  if (answer.decision === 'skip') {
    step.end = { kind: 'skipped', known: describeSkip(answer) };
    keepStep(state, step);
    return null;
  }
  keepFailure(state, step);
  const { reason, why } = endingAfter(answer, step.step_id);
  // If no person decided, the ending also says which failure was open.
  const about = answer.by === null ? `; the open failure was ${failure?.error_code} ${failure?.message_preview}` : '';
  endWith(state, { outcome: 'finalized', reason, why: why + about });
  return null;
}

const describeSkip = (answer: QuestionOutcome): string =>
  describeLeaving(answer, 'left this step out', {
    timed_out: 'Nobody answered in time, so this step was left out.',
    policy: 'No question was left to ask a person, so this step was left out.',
  });

/**
 * Explains why a run stopped after a question: a person stopped it, denied the step, did not answer in time, or could
 * not be asked.
 */
export const endingAfter = ({ kind, by }: QuestionOutcome, stepId: number): Omit<Ending, 'outcome'> =>
  ({
    answered: { reason: 'stopped_by_human', why: `${by ?? 'a person'} stopped the run at step ${stepId}` },
    denied: { reason: 'stopped_by_human', why: `${by ?? 'a person'} denied step ${stepId}` },
    timed_out: { reason: 'question_timed_out', why: 'nobody answered in time, so the policy stopped the run' },
    policy: { reason: 'no_question_left', why: 'the run may ask no more questions, so the policy stopped it' },
  })[kind];

function keepSuccess(state: RunState, step: Step): void {
  if (step.kind === 'planner') return;
  const artifactId = artifactOf(step);
  const isNew = !state.loop.steps.some((other) => artifactOf(other) === artifactId);
  if (isNew) {
    recordProgress(state);
    noteProgressOfStep(state, step);
    closeCorrections(state);
  }
  const outcome = successOf(step);
  if (outcome !== null) {
    if (outcome.inline) holdOutput(state, outcome);
    if (outcome.carried !== undefined) noteCarriedOutput(state);
    if (outcome.unsaved) state.outbox.lost += 1;
    recordEffect(state, step, outcome.bytes);
    learnFromSuccess(state, step);
  }
  keepStep(state, step);
}
