import type { Json } from '../../protocol/json.ts';
import type { CallFailed, CallOutcome, Constraints, Guidance, ToolEffect } from '../../protocol/tools.ts';
import { closeRun } from './agent.ts';
import { openBatch } from './batch.ts';
import { notePressure } from './memory.ts';
import { openOutbox } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import { settleStep } from './settle-step.ts';
import { runStep } from './step.ts';
import { budgetSpent, endWith, type RunState, type StepInFlight } from './state.ts';

/** A step of a workflow that is not ours: its name, what it may do to the world, and what it is given. */
export interface GuardedStep {
  name: string;
  phase: string;
  effect: ToolEffect;
  /** What tells two calls of the step apart; with it a success can prove an earlier failure resolved. */
  input: Json;
}

/** What one attempt of it is told. */
export interface GuardedAttempt {
  attempt: number;
  guidance: Guidance;
  constraints: Constraints;
  idempotencyKey: string;
}

/** How a guarded step came to its end. */
export type GuardedEnd =
  | { kind: 'ok' }
  /** A person left it out. */
  | { kind: 'skipped' }
  /** The run is over: stopped by a person, out of budget, broken, or cancelled. */
  | { kind: 'over'; failure: CallFailed | null };

export type PerformGuarded = (attempt: GuardedAttempt) => Promise<CallOutcome>;

/** The first storey alone: guarded steps with one ledger, one memory and one ending, and no plan of ours. */
export function openGuarded(state: RunState, ports: RunPorts) {
  const writer = openOutbox(state, ports);
  return {
    step: async (asked: GuardedStep, perform: PerformGuarded): Promise<GuardedEnd> => {
      if (isOver(state)) return { kind: 'over', failure: null };
      declare(state, asked);
      const call = { plan_index: null, phase: asked.phase, tool: asked.name, input: asked.input };
      const { steps, short } = openBatch(state, [call]);
      const [step] = steps;
      if (step === undefined) {
        budgetSpent(state, short ?? 'steps');
        return { kind: 'over', failure: null };
      }
      const attempt = (underWay: StepInFlight, guidance: Guidance) =>
        perform({
          attempt: underWay.attempt,
          guidance,
          constraints: underWay.constraints,
          idempotencyKey: `${state.run.run_id}:${underWay.step_id}`,
        });
      state.batch = [...state.batch, step];
      await runStep(state, ports, writer, step, attempt);
      await settleStep(state, ports, writer, step, attempt);
      state.batch = state.batch.filter((other) => other !== step);
      notePressure(state, step, ports.now());
      writer.kick();
      return endOf(state, step);
    },
    /** The one ending: what the workflow hands back, or why it broke. */
    close: async (how: { output: Json | null } | { broke: string }): Promise<void> => {
      if (state.cancel !== null) {
        const { by, reason } = state.cancel;
        endWith(state, { outcome: 'cancelled', reason: 'cancelled', why: `${by} cancelled the run ${reason}`.trim() });
      }
      if ('broke' in how) endWith(state, { outcome: 'system_error', reason: 'WORKFLOW_FAILED', why: how.broke });
      else endWith(state, { outcome: 'completed', reason: 'done', why: 'all of its work is done' });
      state.loop.output = 'output' in how ? how.output : null;
      await closeRun(state, ports, writer);
    },
  };
}

const isOver = (state: RunState): boolean => state.ending !== null || state.cancel !== null;

function endOf(state: RunState, { end }: StepInFlight): GuardedEnd {
  if (end?.kind === 'ok') return { kind: 'ok' };
  const failure = end?.kind === 'failed' ? end.failure : null;
  return isOver(state) ? { kind: 'over', failure } : { kind: 'skipped' };
}

const EFFECTS: readonly ToolEffect[] = ['read', 'idempotent', 'side_effect'];
const stricter = (one: ToolEffect, other: ToolEffect): ToolEffect =>
  EFFECTS.indexOf(one) > EFFECTS.indexOf(other) ? one : other;

/** A workflow names its steps as it goes, so what they are is learnt as it goes: of two effects the stricter holds. */
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
