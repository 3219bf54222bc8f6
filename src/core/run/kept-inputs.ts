import { CAP } from '../../protocol/caps.ts';
import { canonicalJson } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { HeldOutput, RecordBatch, RunArchive } from '../../protocol/records.ts';
import type { Step } from './attempts.ts';
import { hashCached } from './failure-records.ts';
import { holdOutput } from './outbox.ts';
import type { RunState } from './state.ts';

/**
 * The input of a step as the plan or the planner gave it, with its pointers. Its hash is the `input_hash` of the step's
 * records, so the records stay readable when the history is gone. Undefined if the state no longer has it.
 */
function inputOf({ run }: RunState, { call }: Step): Json | undefined {
  // The input of a finished plan step is dropped from the state, because the plan has it.
  const planned = call.plan_index === null ? undefined : run.plan?.steps[call.plan_index]?.input;
  return call.input ?? planned;
}

/** Names the artifact of a step's input, for the archive. */
export function inputIdOf(state: RunState, step: Step): { input_id?: string } {
  const input = inputOf(state, step);
  return defined({ input_id: input === undefined ? undefined : hashCached(input) });
}

/** Holds the inputs that a planner chose, before their steps leave the state. They are written with the outputs of the run. */
export function holdInputs(state: RunState): void {
  for (const { call } of state.loop.steps) {
    if (call.plan_index !== null || call.input === null) continue;
    holdOutput(state, {
      artifact_id: hashCached(call.input),
      output: call.input,
      bytes: canonicalJson(call.input).length,
    });
  }
}

/** Adds the plan, the input of the run and the inputs of its steps to the last write of a run. */
export function withInputs(state: RunState, pending: RecordBatch): Pick<RunArchive, 'request' | 'pending'> {
  const { plan, input } = state.run;
  const values = [plan as Json | null, input, ...state.loop.steps.map((step) => inputOf(state, step) ?? null)];
  const known = new Set(pending.outputs.map(({ id }) => id));
  const inputs: HeldOutput[] = [];
  let room: number = CAP.archivedInputBytes;
  for (const value of values) {
    if (value === null) continue;
    const id = hashCached(value);
    if (known.has(id)) continue;
    known.add(id);
    room -= canonicalJson(value).length;
    if (room >= 0) inputs.push({ id, output: value });
  }
  return {
    request: { plan_id: plan === null ? null : hashCached(plan), input_id: input === null ? null : hashCached(input) },
    pending: { ...pending, outputs: [...pending.outputs, ...inputs] },
  };
}
