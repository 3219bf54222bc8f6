/** Messages from people are checked and applied by pure functions, the same for signals and updates. */
import { describe, expect, it } from 'vitest';
import { anything, check as tryMany, constantFrom, property } from 'fast-check';
import { apply, ignore, receive } from '../../../../src/core/run/messages.ts';
import { openRun, type RunState } from '../../../../src/core/run/state.ts';
import { CAP } from '../../../../src/protocol/caps.ts';
import type { RunMessage } from '../../../../src/protocol/messages.ts';
import { MESSAGE } from '../../../../src/protocol/names.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';

const NOW = 1_900_000_000_000;
const newState = (): RunState => {
  const plan = { steps: [{ phase: 'work', tool: 'look', input: {} }] };
  return openRun(prepared({ agent: 'plain', goal: 'g', plan }, plainRegistry), NOW);
};
const send = (state: RunState, type: 'override' | 'answer' | 'feedback' | 'cancel_run', body: unknown) => {
  const checked = receive(state, type, body);
  return checked.ok ? apply(state, checked.message, NOW) : checked;
};

describe('a message', () => {
  it.each([
    ['override', {}, '$.override_by'],
    ['override', { override_by: 'ada' }, '$'],
    ['override', { override_fatigue: 'yes', override_by: 'ada' }, '$.override_fatigue'],
    ['answer', { question_id: 'q', decision: 'perhaps', by: 'ada' }, '$.decision'],
    ['answer', { question_id: 'q', decision: 'correct', by: 'ada' }, '$.text'],
    ['feedback', { text: ' ', by: 'ada' }, '$.text'],
    ['feedback', { text: 'x'.repeat(CAP.textChars + 1), by: 'ada' }, '$.text'],
    ['cancel_run', {}, '$.by'],
    ['cancel_run', { by: 'ada', because: 'x' }, '$.because'],
  ] as const)('the message %s with the body %j is refused at %s', (type, body, path) => {
    const checked = receive(newState(), type, body);
    expect(checked).toMatchObject({ ok: false, problem: 'bad_body' });
    expect(checked.ok ? [] : checked.errors.map((error) => error.path)).toContain(path);
  });

  it('a message of any shape never throws, and a refused message changes nothing', () => {
    const changedByRefusal = (type: RunMessage['type'], body: unknown): boolean => {
      const state = newState();
      const before = JSON.stringify(state);
      return !receive(state, type, body).ok && JSON.stringify(state) !== before;
    };
    const anyMessage = property(
      constantFrom(...Object.values(MESSAGE)),
      anything(),
      (type, body) => !changedByRefusal(type, body),
    );
    expect(tryMany(anyMessage)).toMatchObject({ failed: false });
  });

  it('the latest messages that could not be used are kept for people to see', () => {
    const state = newState();
    for (let index = 0; index < CAP.ignoredMessages + 5; index += 1) ignore(state, 'answer', `reason ${index}`, NOW);
    expect(state.people.ignored).toHaveLength(CAP.ignoredMessages);
    expect(state.people.ignored.at(-1)?.reason).toBe(`reason ${CAP.ignoredMessages + 4}`);
  });
});

describe('an answer', () => {
  it('an answer without an open question is refused with that reason', () => {
    const body = { question_id: 'nope', decision: 'retry', by: 'ada' };
    expect(send(newState(), 'answer', body)).toMatchObject({
      accepted: false,
      reason: 'no question with this id is open',
    });
  });

  it('a second answer to the same question is refused as already answered', () => {
    const state = newState();
    const question = {
      question_id: 'q1',
      kind: 'failure' as const,
      text: 't',
      step_id: null,
      tried: [],
      asked_at: '',
      deadline: '',
      escalation: 0,
      answer: null,
    };
    state.life = { is: 'waiting', question: { ...question, options: ['retry', 'stop'] } };
    const body = { question_id: 'q1', decision: 'retry', by: 'ada' };
    expect(send(state, 'answer', { ...body, decision: 'approve' })).toMatchObject({ accepted: false });
    expect(send(state, 'answer', body)).toMatchObject({ accepted: true });
    expect(send(state, 'answer', body)).toMatchObject({
      accepted: false,
      reason: 'this question has already been answered',
    });
  });
});

describe('an override', () => {
  it('an override waits for its limit, and a second one for the same limit is already_pending and is not counted', () => {
    const state = newState();
    const body = { override_fatigue: true, override_by: 'ada' };
    expect(send(state, 'override', body)).toMatchObject({ status: 'success' });
    expect(send(state, 'override', body)).toMatchObject({ status: 'already_pending' });
    expect(state.guard.overrides.entries.filter((entry) => entry.outcome === 'pending')).toHaveLength(1);
  });
});

describe('feedback', () => {
  it('feedback is accepted as often as the policy allows', () => {
    const state = newState();
    const body = { text: 'hm', by: 'ada' };
    for (let count = 0; count < state.run.policy.humans.max_feedback; count += 1) {
      expect(send(state, 'feedback', body)).toMatchObject({ feedback_type: null });
    }
    expect(send(state, 'feedback', body)).toMatchObject({ ok: false, problem: 'limit_reached' });
  });
});

describe('after the end', () => {
  it('after the end of a run only a late answer and a cancel get an answer, and they change nothing', () => {
    const state = newState();
    const life = { is: 'closing', ending: { outcome: 'completed', reason: 'thresholds_met', why: 'done' } } as const;
    state.life = life;
    expect(send(state, 'feedback', { text: 'x', by: 'ada' })).toMatchObject({ ok: false, problem: 'ended' });
    expect(send(state, 'override', { override_fatigue: true, override_by: 'ada' })).toMatchObject({
      ok: false,
      problem: 'ended',
    });
    expect(send(state, 'cancel_run', { by: 'ada' })).toMatchObject({ accepted: false });
    expect(state.life).toBe(life);
  });
});
