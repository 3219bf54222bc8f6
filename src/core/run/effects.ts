import { hashOfJson } from '../../protocol/ids.ts';
import type { CallSucceeded } from '../../protocol/tools.ts';
import type { Step } from './attempts.ts';
import { pinPointers } from './pointers.ts';
import { effectOf } from './run-step.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** Keeps the 200 most recent effects and drops older ones. */
const MOST_KEPT = 200;
const TOLD_CHARS = 200;

/**
 * Answers a side effect with the output that the same call gave in an earlier pass, so that a rerun does not repeat it.
 * A call that differs in any way runs as usual.
 */
export function answerFromEarlierPass({ state, ports }: Story, step: Step): void {
  if (state.effects.length === 0 || !isSideEffect(state, step)) return;
  const { loop_id } = state.loop;
  const open = state.effects.filter((effect) => effect.loop_id !== loop_id && effect.answered_in !== loop_id);
  if (open.length === 0) return;
  const input_hash = hashOf(state, step);
  const done = open.find((effect) => effect.tool === step.call.tool && effect.input_hash === input_hash);
  if (done === undefined) return;
  done.answered_in = loop_id;
  step.end = { kind: 'reused', artifact_id: done.artifact_id, bytes: done.bytes };
  ports.log({ event: 'effect_kept', step_id: step.step_id, tool: step.call.tool, done_in: done.loop_id });
}

/**
 * Records a side effect that succeeded. Each one answers one call in each later pass, so two equal effects answer two
 * calls.
 */
export function recordEffect(state: RunState, step: Step, { artifact_id, bytes }: CallSucceeded): void {
  const mayComeAgain = state.run.plan !== null || state.run.planner === 'chooses';
  if (!mayComeAgain || !isSideEffect(state, step)) return;
  state.effects.push({
    tool: step.call.tool,
    input_hash: hashOf(state, step),
    told: `${step.call.tool} ${JSON.stringify(step.call.input)}`.slice(0, TOLD_CHARS),
    artifact_id,
    bytes,
    loop_id: state.loop.loop_id,
    answered_in: null,
  });
  if (state.effects.length > MOST_KEPT) state.effects.shift();
}

/** Describes the ten latest effects for a planner that starts a new pass. */
export const summarizeEffects = (state: RunState): string[] => state.effects.slice(-10).map(({ told }) => told);

const isSideEffect = (state: RunState, step: Step): boolean =>
  step.kind === 'tool' && effectOf(state, step) === 'side_effect';

const hashOf = (state: RunState, step: Step): string => hashOfJson(pinPointers(state, step.call.input));
