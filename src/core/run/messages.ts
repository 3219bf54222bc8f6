import { defined, type Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import { type MessageType, type OverrideMessage, parseMessage, type RunMessage } from '../../protocol/messages.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { applyOverride } from '../guardrails/family-overrides.ts';
import { stepOf } from './describe-question.ts';
import { editOf } from './edited-input.ts';
import { applyFeedback } from './human-feedback.ts';
import { cancel, decidedOutcome, toWireState, openQuestion } from './life.ts';
import type { RunState } from './state.ts';
import { applySupersede } from './supersede.ts';

/** A message that the run does not accept, with the reason. */
export interface RefusedMessage {
  ok: false;
  problem: 'bad_body' | 'ended' | 'limit_reached';
  errors: RequestProblem[];
}

export type MessageAnswer = { [key: string]: Json };

/**
 * Parses a body that has just arrived, and checks the message. Signal and update handlers and the simulator begin with it.
 * While a run is being prepared only the body can be refused, because limits and options are not known yet.
 */
export function receive(
  state: RunState,
  type: MessageType,
  body: unknown,
): { ok: true; message: RunMessage } | RefusedMessage {
  const parsed = parseMessage(type, body);
  if (!parsed.ok) return { ok: false, problem: 'bad_body', errors: parsed.problems };
  const checked = state.life.is === 'preparing' ? parsed : check(state, parsed.message);
  return checked.ok ? parsed : checked;
}

/** Checks whether the run can accept the message now. It looks only at the state, because the message is already parsed. */
export function check(state: RunState, message: RunMessage): { ok: true } | RefusedMessage {
  // A late answer, and a cancel of a run that has ended, are accepted here and answered with a reason instead of an
  // error.
  const outcome = decidedOutcome(state);
  if (outcome !== undefined && message.type !== 'answer' && message.type !== 'cancel_run') {
    return refuse('ended', '$', `the run has ended (${outcome}); start a new one`);
  }
  if (message.type === 'override') {
    const overridden = applyOverride(state.guard, message, '');
    if (!overridden.ok)
      return refuse(overridden.problem === 'ended' ? 'ended' : 'limit_reached', '$', overridden.detail);
  }
  const maxFeedback = state.run.policy.humans.max_feedback;
  if (message.type === 'feedback' && state.people.feedback.length >= maxFeedback) {
    return refuse(
      'limit_reached',
      '$',
      `this run accepts at most ${maxFeedback} feedback messages (policy humans.max_feedback)`,
    );
  }
  return { ok: true };
}

/** Applies a checked message to the state and returns the answer to the sender. */
export function apply(state: RunState, message: RunMessage, now: number): MessageAnswer {
  state.updated_at = now;
  switch (message.type) {
    case 'override':
      return takeOverride(state, message, now);
    case 'answer':
      return applyAnswer(state, message);
    case 'feedback':
      return { ...applyFeedback(state, message, now) };
    case 'supersede':
      return { ...applySupersede(state, message) };
    case 'cancel_run':
      cancel(state, { by: message.by, reason: message.reason ?? '', at: now });
      return { accepted: decidedOutcome(state) === undefined, state: toWireState(state) };
  }
}

/** Notes a signal that cannot be used. It never fails the run. */
export function ignore(state: RunState, type: string, reason: string, now: number): void {
  const { ignored } = state.people;
  ignored.push({ type, reason: reason.slice(0, CAP.messagePreviewChars), at: now });
  if (ignored.length > CAP.ignoredMessages) ignored.shift();
}

function applyAnswer(state: RunState, message: Extract<RunMessage, { type: 'answer' }>): MessageAnswer {
  const refused = (reason: string): MessageAnswer => ({
    accepted: false,
    question_id: message.question_id,
    state: toWireState(state),
    reason,
  });
  const question = openQuestion(state);
  if (question === null || question.question_id !== message.question_id) {
    return refused(
      state.people.closed_questions.includes(message.question_id)
        ? 'this question is already closed'
        : 'no question with this id is open',
    );
  }
  if (question.answer !== null) return refused('this question has already been answered');
  if (!question.options.includes(message.decision)) {
    return refused(`this question can be answered with ${question.options.join(', ')}`);
  }
  const { decision, by, text = null, output, input } = message;
  question.answer = { decision, text, by, ...defined({ output, input }) };
  const step = input === undefined ? undefined : stepOf(state, question);
  const edited = step === undefined || input === undefined ? undefined : editOf(state, step, { input, by });
  return {
    accepted: true,
    question_id: message.question_id,
    state: toWireState(state),
    ...(edited !== undefined && { changes: edited.changes.map((change): Json => ({ ...change })) }),
  };
}

function takeOverride(state: RunState, message: OverrideMessage, now: number): MessageAnswer {
  const overridden = applyOverride(state.guard, message, isoTime(now));
  if (!overridden.ok) return { status: 'refused', reason: overridden.detail };
  state.guard = overridden.state;
  return { ...overridden.answer };
}

const refuse = (problem: RefusedMessage['problem'], path: string, message: string): RefusedMessage => ({
  ok: false,
  problem,
  errors: [{ path, message }],
});
