import type { Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import type { ReviewedStep } from './ports.ts';
import { artifactOf, statusOfStep } from './attempts.ts';
import { summarizeForPlanner } from './planner-steps.ts';
import type { RunState } from './state.ts';

/**
 * Lists the steps for a reviewer: the latest with input and output while there is room, older ones only with their
 * status.
 */
export function stepsToJudge(state: RunState): ReviewedStep[] {
  const { run, loop, outbox } = state;
  let room: number = CAP.reviewViewChars;
  const latestFirst = loop.steps.toReversed().map((step): ReviewedStep => {
    const { plan_index, tool } = step.call;
    const input = plan_index === null ? step.call.input : (run.plan?.steps[plan_index]?.input ?? null);
    const artifact_id = artifactOf(step);
    const ending = { step_id: step.step_id, tool, status: statusOfStep(step), artifact_id };
    const held = artifact_id === null ? undefined : outbox.outputs[artifact_id];
    const whole = {
      ...ending,
      input: previewOf(input),
      ...(held !== undefined && { output: previewOf(held.output) }),
      ...summarizeForPlanner(state, step),
    };
    room -= JSON.stringify(whole).length;
    return room >= 0 ? whole : ending;
  });
  return latestFirst.reverse();
}

/** Returns short values as they are, and the beginning of long ones as text. */
export function previewOf(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= CAP.reviewedChars ? value : toWellFormed(`${text.slice(0, CAP.reviewedChars)}…`);
}
