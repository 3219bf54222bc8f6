import type { Json } from '../../protocol/json.ts';
import { LIMIT } from '../../protocol/limits.ts';
import { wholeText } from '../../protocol/text.ts';
import type { ReviewedStep } from './ports.ts';
import type { RunState } from './state.ts';

/** The latest steps with what went in and came out, as far as there is room; of older ones only how they ended. */
export function stepsToJudge({ run, loop, outbox }: RunState): ReviewedStep[] {
  let room: number = LIMIT.reviewViewChars;
  const latestFirst = loop.results.toReversed().map((result): ReviewedStep => {
    const { step_id, plan_index, tool, status, artifact_id, error_code, message_preview } = result;
    const input = plan_index === null ? result.input : (run.plan?.steps[plan_index]?.input ?? null);
    const ending = { step_id, tool, status, artifact_id };
    const held = artifact_id === null ? undefined : outbox.outputs[artifact_id];
    const whole = {
      ...ending,
      input: previewOf(input),
      ...(held === undefined ? {} : { output: previewOf(held.output) }),
      ...(error_code === undefined ? {} : { error_code }),
      ...(message_preview === undefined ? {} : { message_preview }),
    };
    room -= JSON.stringify(whole).length;
    return room >= 0 ? whole : ending;
  });
  return latestFirst.reverse();
}

/** Short values as they are; the beginning of long ones as text. */
export function previewOf(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= LIMIT.reviewedChars ? value : wholeText(`${text.slice(0, LIMIT.reviewedChars)}…`);
}
