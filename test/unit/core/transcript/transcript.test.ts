/** Conversations: how they are addressed, what providers refuse, and what the surgery at the tail leaves. Needs nothing. */
import { describe, expect, it } from 'vitest';
import { type Message, messageId, resolveTranscript } from '../../../../src/core/transcript/message.ts';
import { checkTranscript } from '../../../../src/core/transcript/check-transcript.ts';
import { joinNeighbours } from '../../../../src/core/transcript/join-neighbours.ts';
import { replaceFailedTail, replaceInvalidOutput } from '../../../../src/core/transcript/failed-tail.ts';

const user = (text: string): Message => ({ role: 'user', text });
const guidance = (text: string): Message => ({ role: 'user', text, guidance: true });
const says = (text: string): Message => ({ role: 'assistant', text, calls: [] });
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  text: '',
  calls: ids.map((call_id) => ({ call_id, tool: 'read', input: { path: call_id } })),
});
const good = (call_id: string): Message => ({ role: 'tool', call_id, tool: 'read', output: 'fine' });
const bad = (call_id: string): Message => ({ role: 'tool', call_id, tool: 'read', output: 'broken', failed: true });
const rulesBrokenBy = (...messages: Message[]): string[] => checkTranscript(messages).map((problem) => problem.rule);

/** A conversation as its ids in order, and each distinct message once. */
const addressed = (messages: readonly Message[]) => {
  const ids = messages.map(messageId);
  return { ids, messages: new Map(messages.map((message, index) => [ids[index] ?? '', message])) };
};

describe('the address of a message', () => {
  it('the id of a message does not depend on the order of keys and changes with every word', () => {
    const one: Message = { role: 'tool', call_id: 'c1', tool: 'read', output: { a: 1, b: [2] } };
    const other: Message = { output: { b: [2], a: 1 }, tool: 'read', call_id: 'c1', role: 'tool' };
    expect(messageId(one)).toBe(messageId(other));
    expect(messageId(one)).toMatch(/^[0-9a-f]{64}$/);
    expect(messageId(one)).not.toBe(messageId({ ...one, failed: true }));
  });

  it('the ids of a conversation lead back to it, and a repeated message is stored once', () => {
    const talk = [user('again'), says('no'), user('again')];
    const { ids, messages } = addressed(talk);
    expect(messages.size).toBe(2);
    expect(resolveTranscript(ids, (id) => messages.get(id))).toEqual({ ok: true, messages: talk });
  });

  it('resolving a transcript reports missing messages, and a forged message counts as missing', () => {
    const { ids, messages } = addressed([user('one'), says('two')]);
    const [first = '', second = ''] = ids;
    expect(resolveTranscript(ids, (id) => (id === second ? undefined : messages.get(id)))).toEqual({
      ok: false,
      missing: [second],
    });
    const forged = resolveTranscript(ids, (id) => (id === first ? user('forged') : messages.get(id)));
    expect(forged).toEqual({ ok: false, missing: [first] });
  });
});

describe('what providers refuse', () => {
  it.each<[string, string[], Message[]]>([
    ['a plain question', [], [user('hello')]],
    ['calls side by side with all their results', [], [user('go'), calls('a', 'b'), good('b'), good('a')]],
    ['words of a person after results', [], [user('go'), calls('a'), good('a'), user('and now?')]],
    ['nothing', ['no_messages'], []],
    ['only instructions', ['no_messages'], [{ role: 'system', text: 'be kind' }]],
    [
      'instructions in the middle',
      ['system_not_first'],
      [user('hi'), says('hm'), { role: 'system', text: 'x' }, user('y')],
    ],
    ['an assistant who starts', ['starts_without_user'], [says('hi'), user('hm')]],
    ['an empty user message', ['empty_message'], [user(' \n')]],
    ['an assistant who says and calls nothing', ['empty_message'], [user('go'), says(''), user('well?')]],
    ['two user messages in a row', ['same_role_twice'], [user('one'), user('two')]],
    ['two assistant messages in a row', ['same_role_twice'], [user('one'), says('a'), says('b'), user('c')]],
    ['a result that nobody asked for', ['result_without_call'], [user('go'), good('a')]],
    ['a result given twice', ['result_without_call'], [user('go'), calls('a'), good('a'), good('a')]],
    [
      'a result that comes late',
      ['call_without_result', 'result_without_call'],
      [user('go'), calls('a'), user('?'), good('a')],
    ],
    ['a call without a result at the end', ['call_without_result'], [user('go'), calls('a', 'b'), good('a')]],
    ['a call id used twice', ['call_id_twice'], [user('go'), calls('a'), good('a'), calls('a'), good('a')]],
    ['a call without an id', ['call_id_missing'], [user('go'), calls(''), good('')]],
    ['the last word of the assistant', ['ends_with_assistant'], [user('go'), says('done')]],
  ])('%s: %j', (_name, rules, messages) => {
    expect(rulesBrokenBy(...messages)).toEqual(rules);
  });

  it('providers refuse arguments that are not an object', () => {
    const odd = { role: 'assistant', text: '', calls: [{ call_id: 'a', tool: 'read', input: 'x' }] };
    expect(rulesBrokenBy(user('go'), odd as unknown as Message, good('a'))).toEqual(['input_not_object']);
  });
});

describe('neighbours', () => {
  it('neighbours of the same role become one message, and nothing else changes', () => {
    expect(joinNeighbours([user('goal'), guidance('careful'), says('a'), calls('c'), good('c')])).toEqual([
      user('goal\n\ncareful'),
      { ...calls('c'), text: 'a' },
      good('c'),
    ]);
  });
});

describe('surgery at a failed tail', () => {
  it('one message of guidance replaces every failed pair', () => {
    const talk = [user('go'), calls('a'), good('a'), calls('b'), bad('b'), calls('c'), bad('c')];
    const { messages, removed_pairs } = replaceFailedTail(talk, 'b and c failed');
    expect(messages).toEqual([user('go'), calls('a'), good('a'), guidance('b and c failed')]);
    expect(removed_pairs).toBe(2);
  });

  it('parallel calls that succeeded stay when failed ones are replaced', () => {
    const talk = [user('go'), calls('a', 'b', 'c'), bad('a'), good('b'), bad('c')];
    expect(replaceFailedTail(talk, 'a and c failed').messages).toEqual([
      user('go'),
      calls('b'),
      good('b'),
      guidance('a and c failed'),
    ]);
  });

  it('only the given number of pairs is removed, the last ones first', () => {
    const talk = [user('go'), calls('a'), bad('a'), calls('b', 'c'), bad('b'), bad('c')];
    const { messages, removed_pairs } = replaceFailedTail(talk, 'two failed', { pairs: 1 });
    expect(messages).toEqual([user('go'), calls('a'), bad('a'), calls('b'), bad('b'), guidance('two failed')]);
    expect(removed_pairs).toBe(1);
  });

  it('a call that never got a result is removed, however few pairs are to be removed', () => {
    const talk = [user('go'), calls('a', 'b'), good('a')];
    expect(replaceFailedTail(talk, 'b was lost', { pairs: 0 }).messages).toEqual([
      user('go'),
      calls('a'),
      good('a'),
      guidance('b was lost'),
    ]);
  });

  it('new guidance replaces earlier guidance', () => {
    const once = replaceFailedTail([user('go'), calls('a'), bad('a')], 'first lesson').messages;
    const twice = replaceFailedTail([...once, calls('b'), bad('b')], 'second lesson').messages;
    expect(twice).toEqual([user('go'), guidance('second lesson')]);
  });

  it('a tail that did not fail stays unchanged', () => {
    const talk = [user('go'), calls('a'), good('a')];
    expect(replaceFailedTail(talk, 'hint')).toEqual({ messages: [...talk, guidance('hint')], removed_pairs: 0 });
  });

  it('replacing a tail never leaves an empty message, even without guidance', () => {
    const { messages } = replaceFailedTail([user('go'), calls('a'), bad('a')], '  ');
    expect(checkTranscript(joinNeighbours(messages))).toEqual([]);
  });
});

describe('the repair of an invalid output', () => {
  it('a repair adds the invalid output at the end, and the next repair replaces it', () => {
    const base = [user('give me JSON')];
    const once = replaceInvalidOutput(base, '{"a":', 'not JSON');
    expect(once).toEqual([...base, says('{"a":'), guidance('not JSON')]);
    expect(replaceInvalidOutput(once, '{"a": 2', 'still not')).toEqual([
      ...base,
      says('{"a": 2'),
      guidance('still not'),
    ]);
  });

  it('a repair without an output only says what is wrong', () => {
    expect(replaceInvalidOutput([user('go')], ' ', 'empty')).toEqual([user('go'), guidance('empty')]);
  });
});
