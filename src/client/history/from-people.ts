import { defined, type Json } from '../../protocol/json.ts';
import { MEMO, MESSAGE } from '../../protocol/names.ts';
import type { EditedInput, InputChange } from '../../protocol/questions.ts';
import {
  type Attributes,
  type Fields,
  asCount,
  asFields,
  asList,
  decodeJson,
  asText,
  textOrNull,
} from './history-event.ts';
import { projectDecided } from './from-decisions.ts';
import type { ProjectionState } from './projection-state.ts';
import { readQuestion } from './read-question.ts';
import type { Fact } from './run-event.ts';

type MemoChange = Attributes<'workflowPropertiesModifiedEventAttributes'>;
type MemoFields = NonNullable<MemoChange['upsertedMemo']>['fields'];

/** The facts of a changed memo: an open question, or a decision about a pass. */
export function projectMemo(state: ProjectionState, { upsertedMemo }: MemoChange): Fact[] {
  const shown = upsertedMemo?.fields ?? {};
  const decided = Object.hasOwn(shown, MEMO.decided) ? asFields(decodeJson(shown[MEMO.decided])) : null;
  return [
    ...(Object.hasOwn(shown, MEMO.pendingQuestion) ? projectQuestion(state, shown) : []),
    ...(decided === null ? [] : projectDecided(state, decided)),
  ];
}

/** A question that disappears from the memo has ended. */
function projectQuestion(state: ProjectionState, shown: NonNullable<MemoFields>): Fact[] {
  const question = readQuestion(decodeJson(shown[MEMO.pendingQuestion]));
  if (question === null) return projectQuestionEnd(state);
  const { question_id, options } = question;
  const open = state.question;
  const goesOn = open?.question_id === question_id;
  const escalation = goesOn ? open.escalation + 1 : 0;
  const before = goesOn ? [] : projectQuestionEnd(state);
  state.question = { question_id, options, escalation, answer: goesOn ? open.answer : null };
  return [...before, { event: 'question_asked', escalation, ...question }];
}

export function projectQuestionEnd(state: ProjectionState): Fact[] {
  if (state.question === null) return [];
  const { question_id, answer } = state.question;
  state.question = null;
  const kind =
    answer === null
      ? state.cancelled
        ? 'cancelled'
        : 'timed_out'
      : answer.decision === 'deny'
        ? 'denied'
        : 'answered';
  const { edit, ...said } = answer ?? { decision: null, text: null, by: null };
  return [
    { event: 'answered', question_id, kind, ...said, ...defined({ changes: edit?.edited.changes }) },
    ...(edit === undefined ? [] : [{ event: 'input_edited' as const, ...edit }]),
  ];
}

/**
 * The facts of a message, sent as a signal or as an accepted update. The run ignores an invalid signal, so it has no event. An answer
 * has its event when the question ends, because only the first valid answer counts.
 */
export function projectMessage(state: ProjectionState, name: string, body: Json | undefined): Fact[] {
  const said = asFields(body);
  const by = asText(said[name === MESSAGE.override ? 'override_by' : 'by']);
  if (by.trim() === '') return [];
  switch (name) {
    case MESSAGE.answer:
      // An answer with another input counts once a worker has checked it.
      if ((said['input'] ?? null) === null) keepAnswer(state, said);
      return [];
    case MESSAGE.feedback:
      return asText(said['text']) === '' ? [] : [{ event: 'review', source: 'person', by, text: asText(said['text']) }];
    case MESSAGE.override:
      if (said['override_fatigue'] !== true && said['override_max_reruns'] !== true) return [];
      return [decision('override', by, textOrNull(said['override_reason']))];
    case MESSAGE.supersede:
      return asText(said['fingerprint']) === '' ? [] : [decision('supersede', by, textOrNull(said['reason']))];
    case MESSAGE.cancelRun:
      return projectCancelRequest(state, by, textOrNull(said['reason']));
    default:
      return [];
  }
}

/** Our client sends a cancel message and then a cancel request to Temporal. Both are one decision. */
export function projectCancelRequest(state: ProjectionState, by: string, reason: string | null): Fact[] {
  if (state.cancelled) return [];
  state.cancelled = true;
  return [decision('cancel', by, reason)];
}

/** Keeps the first valid answer. `said` is the message itself or, if a worker had to check its input, the request for that. */
export function keepAnswer(state: ProjectionState, said: Fields): void {
  const { question } = state;
  const answer = asText(said['decision']);
  if (question === null || question.answer !== null || question.question_id !== said['question_id']) return;
  if (!question.options.includes(answer) || (answer === 'correct' && asText(said['text']) === '')) return;
  const edited = readEdit(said['edited']);
  const edit = edited === null ? undefined : { step_id: asCount(said['step_id']), edited };
  const text = textOrNull(said['text']);
  state.question = { ...question, answer: { decision: answer, text, by: asText(said['by']), ...defined({ edit }) } };
}

function readEdit(value: Json | undefined): EditedInput | null {
  const { by, changes, from_artifact_id: from } = asFields(value);
  const listed = asList(changes).flatMap((change): InputChange[] => {
    const { path, from: before, to } = asFields(change);
    return typeof path === 'string' ? [{ path, ...defined({ from: before, to }) }] : [];
  });
  if (listed.length === 0) return null;
  return { by: asText(by), changes: listed, ...(typeof from === 'string' && { from_artifact_id: from }) };
}

const decision = (what: 'override' | 'supersede' | 'cancel', by: string, reason: string | null): Fact => ({
  event: 'decision',
  source: 'person',
  decision: what,
  by,
  reason,
});
