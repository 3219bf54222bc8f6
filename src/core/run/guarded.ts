import type { Json } from '../../protocol/json.ts';
import type { CallFailed, CallOutcome, Constraints, Guidance, ToolEffect } from '../../protocol/tools.ts';
import { lastFailure, type Step, subjectOf } from './attempts.ts';
import { openBatch } from './batch.ts';
import { holdIfUnknown } from './effects.ts';
import { identityOf, isSideEffect, keyOf, nextFence } from './known-effects.ts';
import { endForBudget, endWith, isOver } from './life.ts';
import { foldSteps } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import { recordPressure } from './read-failures.ts';
import { closeRun, endAsCancelled } from './run-agent.ts';
import { type Perform, runStep } from './run-step.ts';
import { settleStep } from './settle-step.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';
import { openOutboxWriter } from './write-outbox.ts';

/** A step of a user's own workflow: its name, the effect that it may have, and its input. */
export interface GuardedStep {
  name: string;
  phase: string;
  effect: ToolEffect;
  /** Identifies the call. A success with the same input can prove an earlier failure resolved. */
  input: Json;
}

/** The argument of the user's code for one attempt. */
export interface GuardedAttempt {
  attempt: number;
  guidance: Guidance;
  constraints: Constraints;
  idempotencyKey: string;
  /** Grows with every attempt, so that a receiver can refuse an older attempt that arrives late. */
  fence: number;
}

/** How a guarded step ended. */
export type GuardedEnd =
  | { kind: 'ok' }
  /** A person said that its effect happened, and may have given its output. */
  | { kind: 'confirmed'; output: Json | undefined }
  /** A person answered `skip`. */
  | { kind: 'skipped' }
  /** The run has ended: a person stopped it, its budget is spent, it failed, or it was cancelled. */
  | { kind: 'over'; failure: CallFailed | null };

export type PerformGuarded = (attempt: GuardedAttempt) => Promise<CallOutcome>;

/**
 * Runs the steps of a user's own workflow with one ledger, one failure memory and one ending, but without a plan or
 * planner.
 */
export function openGuarded(state: RunState, ports: RunPorts) {
  const story: Story = { state, ports, outbox: openOutboxWriter(state, ports) };
  const { loop } = state;
  return {
    step: async (wanted: GuardedStep, perform: PerformGuarded): Promise<GuardedEnd> => {
      if (isOver(state)) return { kind: 'over', failure: null };
      declare(state, wanted);
      const call = { plan_index: null, phase: wanted.phase, tool: wanted.name, input: wanted.input, turn: 0 };
      const { steps, short } = openBatch(state, [call]);
      const [step] = steps;
      if (step === undefined) {
        endForBudget(state, short ?? 'steps');
        return { kind: 'over', failure: null };
      }
      const attempt: Perform = (_step, { n, guidance, constraints }) =>
        perform({
          attempt: n,
          guidance: guidance ?? { rows: [], text: '' },
          constraints: constraints ?? {},
          idempotencyKey: keyOf(state, step),
          fence: nextFence(state, ports.now()),
        });
      const isAlone = (): boolean => isOver(state) || !loop.batch.some((other) => isIdentical(state, other, step));
      // The second of two identical side effects has to know how the first ended.
      while (!isAlone()) await ports.until(isAlone, IDENTICAL_WAIT_MS, 'waiting for an identical step');
      loop.batch = [...loop.batch, step];
      if (!holdIfUnknown(story, step)) await runStep(story, step, attempt);
      await settleStep(story, step, attempt);
      const end = toGuardedEnd(state, step);
      loop.batch = loop.batch.filter((other) => other !== step);
      foldSteps(state, [step]);
      recordPressure(state, subjectOf(step), ports.now());
      story.outbox.start();
      return end;
    },
    /** Ends the run with the workflow's output, or with the reason why the workflow failed. */
    close: async (how: { output: Json | null } | { broke: string }): Promise<void> => {
      if (state.life.is === 'stopping') endAsCancelled(state, state.life.cancel);
      if ('broke' in how) endWith(state, { outcome: 'system_error', reason: 'WORKFLOW_FAILED', why: how.broke });
      else endWith(state, { outcome: 'completed', reason: 'done', why: 'all of its work is done' });
      loop.output = 'output' in how ? how.output : null;
      await closeRun(story);
    },
  };
}

function toGuardedEnd(state: RunState, step: Step): GuardedEnd {
  if (step.end?.kind === 'ok') return { kind: 'ok' };
  if (step.end?.kind === 'confirmed') {
    const { artifact_id } = step.end;
    return { kind: 'confirmed', output: artifact_id === null ? undefined : state.outbox.outputs[artifact_id]?.output };
  }
  const failure = step.end?.kind === 'failed' ? lastFailure(step) : null;
  return isOver(state) ? { kind: 'over', failure } : { kind: 'skipped' };
}

const isIdentical = (state: RunState, one: Step, other: Step): boolean =>
  isSideEffect(state, one) && isSideEffect(state, other) && identityOf(state, one) === identityOf(state, other);
const IDENTICAL_WAIT_MS = 86_400_000;

const EFFECTS: readonly ToolEffect[] = ['read', 'idempotent', 'side_effect'];
const stricter = (one: ToolEffect, other: ToolEffect): ToolEffect =>
  EFFECTS.indexOf(one) > EFFECTS.indexOf(other) ? one : other;

/** If two steps declare the same name with different effects, the stricter effect applies to both. */
function declare(state: RunState, { name, effect }: GuardedStep): void {
  const known = state.run.manifest[name];
  state.run.manifest[name] = {
    name,
    effect: known === undefined ? effect : stricter(known.effect, effect),
    kind: 'action',
    min_confidence: 0,
    timeout_ms: 0,
    approval: false,
    reconcile: false,
    evaluates: false,
    schema_hash: '',
  };
}
