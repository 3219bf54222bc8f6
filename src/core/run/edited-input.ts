import { CAP } from '../../protocol/caps.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { AnswerMessage } from '../../protocol/messages.ts';
import type { EditedInput } from '../../protocol/questions.ts';
import type { InputToCheck } from '../../protocol/tools.ts';
import { type Call, type Step, subjectOf } from './attempts.ts';
import { askedInput, inputOf, stepOf } from './describe-question.ts';
import { makeNoticeRecord } from './failure-records.ts';
import { describeChanges, listChanges } from './input-changes.ts';
import { openQuestion } from './life.ts';
import { queueNotice } from './outbox.ts';
import type { RunState } from './state.ts';

/**
 * What has to be checked before an answer is applied: the input that a person gives with `approve`, by the schema of the tool.
 * Null if the answer brings none, or if it cannot be applied anyway; `apply` then says why.
 */
export function inputToCheck(state: RunState, message: AnswerMessage): InputToCheck | null {
  const question = openQuestion(state);
  const { question_id, decision, input, by, text } = message;
  if (input === undefined || question?.question_id !== question_id || question.answer !== null) return null;
  const step = stepOf(state, question);
  if (step === undefined || !question.options.includes(decision)) return null;
  const edited = editOf(state, step, { input, by });
  return {
    question_id,
    decision,
    by,
    ...defined({ text }),
    step_id: step.step_id,
    tool: step.call.tool,
    input,
    ...defined({ edited }),
  };
}

/** Returns what a person changed in the input of a step, or undefined if it is the same. */
export function editOf(
  state: RunState,
  step: Step,
  { input, by }: { input: Json; by: string },
): EditedInput | undefined {
  const changes = listChanges(inputOf(state, step), input);
  if (changes.length === 0) return undefined;
  return { by, changes, ...defined({ from_artifact_id: askedInput(state, step)?.id }) };
}

/**
 * Puts the input of a person in the place of the planner's. The call gets a new object, because its identity follows from its
 * input, and what the tool said about repetitions was about the old one.
 */
export function editInput(
  state: RunState,
  step: Step,
  given: { input: Json; by: string; text: string | null },
  now: number,
): void {
  const edited = editOf(state, step, given);
  if (edited === undefined) return;
  recordEdit(state, step, { edited, note: given.text }, now);
  const { loop_key: _about, ...call }: Call = step.call;
  step.call = { ...call, input: given.input, edited };
}

/** Records who changed what. It is not a failure of the run, so the failure memory does not count it. */
function recordEdit(
  state: RunState,
  step: Step,
  { edited, note }: { edited: EditedInput; note: string | null },
  now: number,
): void {
  const { tool } = step.call;
  const wrote = note === null || note === '' ? '' : ` and wrote: ${note}`;
  const text = `changed the input of ${tool} before it ran: ${describeChanges(edited.changes)}${wrote}`;
  const { record, artifacts } = makeNoticeRecord(
    state,
    subjectOf(step),
    {
      signal_type: 'human_correction',
      kind: 'correction',
      error_code: 'INPUT_CHANGED',
      tool_name: tool,
      said: { by: edited.by, text: text.slice(0, CAP.textChars) },
    },
    now,
  );
  queueNotice(state, record, artifacts);
}
