import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import { isInfrastructure } from '../retry/strategies.ts';
import {
  artifactOf,
  failedOutputOf,
  lastFailure,
  summarizeFailure,
  statusOfStep,
  type Step,
  successOf,
} from './attempts.ts';
import type { PlannerStep } from './ports.ts';
import { effectOf } from './known-effects.ts';
import type { RunState } from './state.ts';

const STEPS_IN_VIEW = 50;

/**
 * Lists the finished steps for a planner: the latest in full and, once the view is full, only the status of older ones.
 */
export function plannerSteps(state: RunState): PlannerStep[] {
  let room: number = CAP.plannerViewChars;
  const latestFirst = unseenSteps(state)
    .slice(-STEPS_IN_VIEW)
    .reverse()
    .map((step) => plannerStep(state, step));
  const fitting = latestFirst.map((step) => {
    room -= JSON.stringify(step).length;
    if (room >= 0) return step;
    const { output: _output, ...ending } = step;
    return { ...ending, input: null };
  });
  return fitting.reverse();
}

/** A model is shown only the steps that its transcript does not include yet; a planner in code is shown all of them. */
const unseenSteps = ({ run, loop }: RunState): Step[] =>
  run.model === null ? loop.steps : loop.steps.filter(({ step_id }) => step_id > loop.told_step_id);

function plannerStep(state: RunState, step: Step): PlannerStep {
  const { outbox } = state;
  const lost = lostOutput(step);
  const artifactId = lost === undefined ? shownOutput(step) : null;
  return defined({
    step_id: step.step_id,
    call_id: step.call.call_id,
    tool: step.call.tool,
    input: step.call.plan_index === null ? step.call.input : null,
    status: statusOfStep(step),
    output: artifactId === null ? undefined : outbox.outputs[artifactId]?.output,
    artifact_id: artifactId ?? undefined,
    ...summarizeForPlanner(state, step),
    known: step.end !== null && 'known' in step.end ? step.end.known : lost,
    detected: successOf(step)?.detected?.feedback_type,
    edited: step.call.edited,
  });
}

/** Says that an output is lost, so that nobody takes the id of it for a place where it can be read. */
function lostOutput(step: Step): string | undefined {
  const success = successOf(step);
  return success?.unsaved === true
    ? `The call succeeded, but its output of ${success.bytes} bytes is lost, because it could not be stored.`
    : undefined;
}

/** The id of the output that whoever chose the call is shown; after a failure, of what the call printed. */
const shownOutput = (step: Step): string | null => artifactOf(step) ?? failedOutputOf(step)?.artifact_id ?? null;

/** A model cannot act on lost workers and missing registrations, so it is only told that the tool was not available. */
export function summarizeForPlanner(state: RunState, step: Step): ReturnType<typeof summarizeFailure> {
  const failure = step.end?.kind === 'failed' ? lastFailure(step) : null;
  const isHidden =
    state.run.model !== null &&
    failure !== null &&
    isInfrastructure(failure.category) &&
    effectOf(state, step) !== 'side_effect';
  return isHidden ? TOOL_UNAVAILABLE : summarizeFailure(step);
}
const TOOL_UNAVAILABLE = { error_code: 'TOOL_UNAVAILABLE', message_preview: 'the tool is not available at the moment' };

/** True when the outputs that a planner has not seen yet may not fit into its view. */
export function outputsOverflow({ loop, outbox }: RunState): boolean {
  const ids = new Set(loop.steps.filter(({ step_id }) => step_id > loop.told_step_id).map(shownOutput));
  let bytes = 0;
  for (const id of ids) bytes += id === null ? 0 : (outbox.outputs[id]?.bytes ?? 0);
  return bytes > CAP.plannerViewChars / 2;
}
