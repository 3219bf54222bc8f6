/** What the loop keeps of a step that is over. */
import { findFailure } from '../failures/failure-memory.ts';
import type { Stall } from '../failures/loop-watch.ts';
import { renderGuidance } from '../failures/render-guidance.ts';
import { attemptCount, dropOutputText, failedOutputOf, type Step } from './attempts.ts';
import { recordCancelledEffect } from './effects.ts';
import { readEvaluation } from './evaluations.ts';
import { countStep } from './figures.ts';
import { keepOpenFailure } from './lessons.ts';
import { holdOutput } from './outbox.ts';
import type { RunState } from './state.ts';

/** Keeps a cancelled step if it had begun. A side effect that had begun may have happened, so its effect is unknown. */
export function keepCancelled(state: RunState, step: Step): void {
  if (attemptCount(step) === 0) return;
  // An attempt that failed before the cancel is over; only one that was stopped on its way may have had its effect.
  const wasStopped = step.attempts.at(-1)?.outcome?.class !== 'failed';
  if (wasStopped && recordCancelledEffect(state, step) !== null) step.end = { kind: 'cancelled', effect_unknown: true };
  keepStep(state, step);
}

/** Answers the call with guidance about its stall instead of running it. */
export function keepGuided(state: RunState, step: Step, stall: Stall): void {
  const failure = findFailure(state.failures, stall.fingerprint);
  step.end = { kind: 'guided', stall, ...(failure !== undefined && { shown: renderGuidance(failure) }) };
  keepStep(state, step);
}

export function keepFailure(state: RunState, step: Step): null {
  keepOpenFailure(state, step);
  keepStep(state, step);
  return null;
}

/** Adds the step to the finished steps of the loop. A planner's turn is not kept as a step. */
export function keepStep(state: RunState, step: Step): void {
  if (step.kind === 'planner') return;
  const said = failedOutputOf(step);
  if (said?.text !== undefined) holdOutput(state, { ...said, output: said.text });
  dropOutputText(step);
  readEvaluation(state, step);
  countStep(state, step);
  state.loop.steps.push(step);
}
