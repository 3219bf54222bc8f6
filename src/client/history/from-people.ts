import type { Json } from '../../protocol/json.ts';
import { MEMO, MESSAGE } from '../../protocol/names.ts';
import { DECISIONS, type Decision } from '../../protocol/run.ts';
import { type Attributes, type Fields, fieldsOf, jsonOf, textOf, textOrNull, textsOf } from './history-event.ts';
import { factsOfDecided } from './from-decisions.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

type MemoChange = Attributes<'workflowPropertiesModifiedEventAttributes'>;
type MemoFields = NonNullable<MemoChange['upsertedMemo']>['fields'];

/** What the memo shows to those who cannot ask the run: an open question, and what was decided about a pass. */
export function factsOfMemo(state: ProjectionState, { upsertedMemo }: MemoChange): Fact[] {
  const shown = upsertedMemo?.fields ?? {};
  const decided = Object.hasOwn(shown, MEMO.decided) ? fieldsOf(jsonOf(shown[MEMO.decided])) : null;
  return [
    ...(Object.hasOwn(shown, MEMO.pendingQuestion) ? factsOfQuestion(state, shown) : []),
    ...(decided === null ? [] : factsOfDecided(state, decided)),
  ];
}

/** When it goes, the question has come to its end. */
function factsOfQuestion(state: ProjectionState, shown: NonNullable<MemoFields>): Fact[] {
  const asked = fieldsOf(jsonOf(shown[MEMO.pendingQuestion]));
  const question_id = textOf(asked['question_id']);
  if (question_id === '') return factsOfQuestionEnd(state);
  const open = state.question;
  const goesOn = open?.question_id === question_id;
  const options = textsOf(asked['options']).filter(isDecision);
  const escalation = goesOn ? open.escalation + 1 : 0;
  const before = goesOn ? [] : factsOfQuestionEnd(state);
  state.question = { question_id, options, escalation, answer: goesOn ? open.answer : null };
  const fingerprint = textOrNull(asked['fingerprint']);
  return [
    ...before,
    {
      event: 'question_asked',
      escalation,
      question_id,
      text: textOf(asked['text']),
      ...(fingerprint === null ? {} : { fingerprint }),
      tried: textsOf(asked['tried']),
      options,
      asked_at: textOf(asked['asked_at']),
      deadline: textOf(asked['deadline']),
    },
  ];
}

export function factsOfQuestionEnd(state: ProjectionState): Fact[] {
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
  return [{ event: 'answered', question_id, kind, ...(answer ?? { decision: null, text: null, by: null }) }];
}

/**
 * What people sent, as a signal or as an accepted update. The run ignores a signal that it cannot use, so one without
 * its body is not told; an answer is told when its question ends, for only the first that fits counts.
 */
export function factsOfMessage(state: ProjectionState, name: string, body: Json | undefined): Fact[] {
  const said = fieldsOf(body);
  const by = textOf(said[name === MESSAGE.override ? 'override_by' : 'by']);
  if (by.trim() === '') return [];
  switch (name) {
    case MESSAGE.answer:
      keepAnswer(state, said, by);
      return [];
    case MESSAGE.feedback:
      return textOf(said['text']) === '' ? [] : [{ event: 'review', source: 'person', by, text: textOf(said['text']) }];
    case MESSAGE.override:
      if (said['override_fatigue'] !== true && said['override_max_reruns'] !== true) return [];
      return [decision('override', by, textOrNull(said['override_reason']))];
    case MESSAGE.cancelRun:
      return factsOfCancelRequest(state, by, textOrNull(said['reason']));
    default:
      return [];
  }
}

/** Our client says who cancels by a message and then asks Temporal to; that is one decision, not two. */
export function factsOfCancelRequest(state: ProjectionState, by: string, reason: string | null): Fact[] {
  if (state.cancelled) return [];
  state.cancelled = true;
  return [decision('cancel', by, reason)];
}

function keepAnswer(state: ProjectionState, said: Fields, by: string): void {
  const { question } = state;
  const answer = textOf(said['decision']);
  if (question === null || question.answer !== null || question.question_id !== said['question_id']) return;
  if (!question.options.includes(answer) || (answer === 'correct' && textOf(said['text']) === '')) return;
  state.question = { ...question, answer: { decision: answer, text: textOrNull(said['text']), by } };
}

const decision = (what: 'override' | 'cancel', by: string, reason: string | null): Fact => ({
  event: 'decision',
  source: 'person',
  decision: what,
  by,
  reason,
});

const isDecision = (text: string): text is Decision => (DECISIONS as readonly string[]).includes(text);
