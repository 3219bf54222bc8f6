import { hashOfJson } from '../../protocol/ids.ts';
import type { CallSucceeded } from '../../protocol/tools.ts';
import { pinPointers } from './pointers.ts';
import type { RunPorts } from './ports.ts';
import { effectOf } from './step.ts';
import type { DoneEffect, RunState, StepInFlight } from './state.ts';

/** More are no run of ours: the oldest are then forgotten. */
const MOST_KEPT = 200;
const TOLD_CHARS = 200;

/**
 * A pass that is done again must not pay again. What a side effect gave in an earlier pass is its answer when the same
 * call comes in a later one; a call that differs in anything runs.
 */
export function answerFromEarlierPass(state: RunState, ports: RunPorts, step: StepInFlight): void {
  if (state.effects.length === 0 || !isSideEffect(state, step)) return;
  const { loop_id } = state.loop;
  const open = state.effects.filter((done) => done.loop_id !== loop_id && done.answered_in !== loop_id);
  if (open.length === 0) return;
  const input_hash = hashOf(state, step);
  const done = open.find((one) => one.tool === step.tool && one.input_hash === input_hash);
  if (done === undefined) return;
  done.answered_in = loop_id;
  step.end = { kind: 'ok', outcome: outcomeOf(state, done) };
  ports.log({ event: 'effect_kept', step_id: step.step_id, tool: step.tool, done_in: done.loop_id });
}

/** Each effect answers one call a pass, so what was done twice is twice there. */
export function noteEffect(state: RunState, step: StepInFlight, { artifact_id, bytes }: CallSucceeded): void {
  const mayComeAgain = state.run.plan !== null || state.run.planner === 'chooses';
  if (step.attempt === 0 || !mayComeAgain || !isSideEffect(state, step)) return;
  state.effects.push({
    tool: step.tool,
    input_hash: hashOf(state, step),
    told: `${step.tool} ${JSON.stringify(step.input)}`.slice(0, TOLD_CHARS),
    artifact_id,
    bytes,
    loop_id: state.loop.loop_id,
    answered_in: null,
  });
  if (state.effects.length > MOST_KEPT) state.effects.shift();
}

/** What a planner that begins anew has to know about what it did. */
export const effectsTold = (state: RunState): string[] => state.effects.slice(-10).map(({ told }) => told);

const isSideEffect = (state: RunState, step: StepInFlight): boolean =>
  step.kind === 'tool' && effectOf(state, step) === 'side_effect';

const hashOf = (state: RunState, step: StepInFlight): string => hashOfJson(pinPointers(state, step.input));

function outcomeOf({ outbox }: RunState, { artifact_id, bytes }: DoneEffect): CallSucceeded {
  const held = outbox.outputs[artifact_id];
  const output = held?.output ?? null;
  return { class: 'ok', output, inline: held !== undefined, artifact_id, bytes, duration_ms: 0 };
}
