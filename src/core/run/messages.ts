import type { Json } from '../../protocol/json.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { OverrideMessage, RunMessage } from '../../protocol/messages.ts';
import { DECISIONS, type Decision } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { applyOverride } from '../guardrails/family-overrides.ts';
import { takeFeedback } from './human-feedback.ts';
import { cancel, decidedOutcome, lifeOnTheWire, openQuestion } from './life.ts';
import type { RunState } from './state.ts';

/**
 * What people send, as one pure and synchronous pair: `check` says whether a message may be applied, `apply` does it
 * and answers. Signals, update validators, the simulator and the doors all use this pair, so they can never disagree.
 */
export type MessageProblem = 'bad_body' | 'ended' | 'limit_reached';
export type Checked =
  | { ok: true; message: RunMessage }
  | { ok: false; problem: MessageProblem; errors: { path: string; message: string }[] };

export type MessageAnswer = { [key: string]: Json };

export function check(state: RunState, type: RunMessage['type'], body: unknown): Checked {
  const parsed = parse(type, body);
  if (!parsed.ok) return parsed;
  // A late answer is a fact to tell, not a mistake to refuse; so is cancelling what has already ended.
  const outcome = decidedOutcome(state);
  if (outcome !== undefined && type !== 'answer' && type !== 'cancel_run') {
    return refuse('ended', '$', `the run has ended (${outcome}); start a new one`);
  }
  if (parsed.message.type === 'override') {
    const overridden = applyOverride(state.guard, parsed.message, '');
    if (!overridden.ok)
      return refuse(overridden.problem === 'ended' ? 'ended' : 'limit_reached', '$', overridden.detail);
  }
  const maxFeedback = state.run.policy.humans.max_feedback;
  if (type === 'feedback' && state.people.feedback.length >= maxFeedback) {
    return refuse('limit_reached', '$', `this run takes ${maxFeedback} feedbacks (policy humans.max_feedback)`);
  }
  return parsed;
}

export function apply(state: RunState, message: RunMessage, now: number): MessageAnswer {
  state.updated_at = now;
  switch (message.type) {
    case 'override':
      return takeOverride(state, message, now);
    case 'answer':
      return applyAnswer(state, message);
    case 'feedback':
      return { ...takeFeedback(state, message, now) };
    case 'cancel_run':
      cancel(state, { by: message.by, reason: message.reason ?? '', at: now });
      return { accepted: decidedOutcome(state) === undefined, state: lifeOnTheWire(state) };
  }
}

/** A signal that cannot be used never fails a run: it is noted, and the run goes on. */
export function ignore(state: RunState, type: string, reason: string, now: number): void {
  const { ignored } = state.people;
  ignored.push({ type, reason: reason.slice(0, LIMIT.messagePreviewChars), at: now });
  if (ignored.length > LIMIT.ignoredMessages) ignored.shift();
}

function applyAnswer(state: RunState, message: Extract<RunMessage, { type: 'answer' }>): MessageAnswer {
  const refused = (reason: string): MessageAnswer => ({
    accepted: false,
    question_id: message.question_id,
    state: lifeOnTheWire(state),
    reason,
  });
  const question = openQuestion(state);
  if (question === null || question.question_id !== message.question_id) {
    return refused(
      state.people.closed_questions.includes(message.question_id)
        ? 'this question has already come to its end'
        : 'no question with this id is open',
    );
  }
  if (question.answer !== null) return refused('this question has already been answered');
  if (!question.options.includes(message.decision)) {
    return refused(`this question can be answered with ${question.options.join(', ')}`);
  }
  question.answer = { decision: message.decision, text: message.text ?? null, by: message.by };
  return { accepted: true, question_id: message.question_id, state: lifeOnTheWire(state) };
}

function takeOverride(state: RunState, message: OverrideMessage, now: number): MessageAnswer {
  const overridden = applyOverride(state.guard, message, isoTime(now));
  if (!overridden.ok) return { status: 'refused', reason: overridden.detail };
  state.guard = overridden.state;
  return { ...overridden.answer };
}

const refuse = (problem: MessageProblem, path: string, message: string): Checked => ({
  ok: false,
  problem,
  errors: [{ path, message }],
});

type Fields = Record<string, 'text' | 'text?' | 'name' | 'flag?' | 'decision'>;
const FIELDS: Record<RunMessage['type'], Fields> = {
  override: { override_fatigue: 'flag?', override_max_reruns: 'flag?', override_by: 'name', override_reason: 'text?' },
  answer: { question_id: 'text', decision: 'decision', text: 'text?', by: 'name' },
  feedback: { text: 'text', by: 'name' },
  cancel_run: { by: 'name', reason: 'text?' },
};

function parse(type: RunMessage['type'], body: unknown): Checked {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || ArrayBuffer.isView(body)) {
    return refuse('bad_body', '$', 'expected a JSON object');
  }
  const given = body as Record<string, unknown>;
  const fields = FIELDS[type];
  const errors: { path: string; message: string }[] = [];
  const clean: Record<string, unknown> = { type };
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name)) errors.push({ path: `$.${name}`, message: 'unknown field' });
  }
  for (const [name, kind] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const missing = value === undefined || value === null;
    if (missing && kind.endsWith('?')) continue;
    const problem = missing ? 'required' : problemOf(kind, value);
    if (problem !== null) errors.push({ path: `$.${name}`, message: problem });
    else clean[name] = value;
  }
  if (errors.length === 0 && type === 'override' && !clean.override_fatigue && !clean.override_max_reruns) {
    errors.push({ path: '$', message: 'set override_fatigue or override_max_reruns to true' });
  }
  if (errors.length === 0 && type === 'answer' && clean.decision === 'correct' && !clean.text) {
    errors.push({ path: '$.text', message: 'required with the decision correct' });
  }
  return errors.length > 0
    ? { ok: false, problem: 'bad_body', errors }
    : { ok: true, message: clean as unknown as RunMessage };
}

function problemOf(kind: Fields[string], value: unknown): string | null {
  if (kind === 'flag?') return typeof value === 'boolean' ? null : 'expected true or false';
  if (kind === 'decision') {
    return DECISIONS.includes(value as Decision) ? null : `expected one of ${DECISIONS.join(', ')}`;
  }
  if (typeof value !== 'string') return 'expected text';
  if (!kind.endsWith('?') && value.trim() === '') return 'must not be empty';
  // A name stands in decisions, guidance and audits, which have room for a name.
  if (kind === 'name') return value.length > LIMIT.nameChars ? `at most ${LIMIT.nameChars} characters` : null;
  return value.length > LIMIT.textChars ? `at most ${LIMIT.textChars} characters` : null;
}
