/**
 * What people send to runs and guards, read by the one function that checks it. That every way in uses it is shown in
 * test/unit/api/messages.test.ts and, on Temporal, in test/stack/temporal-cli.test.ts and test/stack/loop-guard.test.ts.
 */
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  anything,
  type Arbitrary,
  assert as always,
  boolean,
  constantFrom,
  jsonValue,
  oneof,
  property,
  record,
  string,
} from 'fast-check';
import { z } from 'zod';
import { fieldSchemas, MESSAGE_SCHEMAS } from '../../../src/api/schemas/messages.ts';
import { problemsOf } from '../../../src/define/zod-problems.ts';
import { CAP } from '../../../src/protocol/caps.ts';
import {
  MESSAGE_FIELDS,
  type MessageField,
  type MessageOf,
  type MessageType,
  parseMessage,
  type RunMessage,
} from '../../../src/protocol/messages.ts';
import { MESSAGE } from '../../../src/protocol/names.ts';
import type { Decision } from '../../../src/protocol/questions.ts';

const TYPES = Object.keys(MESSAGE_FIELDS) as MessageType[];
const SCHEMA_OF = {
  override: MESSAGE_SCHEMAS.OverrideRequest,
  answer: MESSAGE_SCHEMAS.AnswerRequest,
  feedback: MESSAGE_SCHEMAS.FeedbackRequest,
  supersede: z.strictObject(fieldSchemas(MESSAGE_FIELDS.supersede)),
  cancel_run: MESSAGE_SCHEMAS.PersonRequest,
};

function allowedBy(field: MessageField): Arbitrary<unknown> {
  switch (field.type) {
    case 'flag':
      return boolean();
    case 'choice':
      return constantFrom(...field.choices);
    case 'json':
      return jsonValue({ maxDepth: 3 });
    case 'text': {
      const text = string({ minLength: 1, maxLength: field.maxChars }).filter((given) => given.trim() !== '');
      const longest = constantFrom('x'.repeat(field.maxChars));
      return field.optional ? oneof(text, longest, constantFrom(null, '')) : oneof(text, longest);
    }
  }
}

/** Any body with the fields of this type, their values drawn by `values`; optional fields may be missing. */
function bodyOf(type: MessageType, values: (field: MessageField) => Arbitrary<unknown>) {
  const fields = Object.entries<MessageField>(MESSAGE_FIELDS[type]);
  const required = fields.filter(([, field]) => !field.optional).map(([key]) => key);
  return record(Object.fromEntries(fields.map(([key, field]) => [key, values(field)])), { requiredKeys: required });
}
const anyType = constantFrom(...TYPES);
/** The path of the rule about several fields that this body breaks, when each field is good by itself. */
function brokenRule(type: MessageType, body: Record<string, unknown>): string[] {
  if (type === 'override') return body['override_fatigue'] || body['override_max_reruns'] ? [] : ['$'];
  if (type !== 'answer') return [];
  const hasOutput = body['output'] !== undefined && body['output'] !== null;
  const hasInput = body['input'] !== undefined && body['input'] !== null;
  return [
    ...(body['decision'] !== 'approve' && hasInput ? ['$.input'] : []),
    ...(body['decision'] !== 'done' && hasOutput ? ['$.output'] : []),
    ...(body['decision'] === 'correct' && !body['text'] ? ['$.text'] : []),
  ];
}

const pathsOf = (problems: { path: string }[]): string[] => [...new Set(problems.map(({ path }) => path))].sort();

describe('a body', () => {
  it('every body that the fields allow is accepted, and the message has what was given', () => {
    const accepted = property(
      anyType.chain((type) => bodyOf(type, allowedBy).map((body) => ({ type, body }))),
      ({ type, body }) => {
        const parsed = parseMessage(type, body);
        const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
        const isRead = brokenRule(type, body).length === 0;
        expect(parsed.ok ? parsed.message : null).toEqual(isRead ? { type, ...given } : null);
        expect(SCHEMA_OF[type].safeParse(body).error).toBeUndefined();
      },
    );
    expect(() => always(accepted, { numRuns: 1_000 })).not.toThrow();
  });

  it('a body is refused at the paths at which the OpenAPI schema refuses it', () => {
    const values = (field: MessageField): Arbitrary<unknown> => {
      const tooLong = field.type === 'text' ? [`${'x'.repeat(field.maxChars)}y`] : [];
      return oneof(allowedBy(field), constantFrom<unknown>(null, '', 7, true, {}, [], ...tooLong), jsonValue());
    };
    const wrong = anyType.chain((type) => {
      const more = record({ because: jsonValue(), overide_fatigue: boolean() }, { requiredKeys: [] });
      const body = record({ body: bodyOf(type, values), more }).map((given) => ({ ...given.body, ...given.more }));
      return oneof(body, jsonValue()).map((given) => ({ type, body: given }));
    });
    const same = property(wrong, ({ type, body }) => {
      const parsed = parseMessage(type, body);
      const described = SCHEMA_OF[type].safeParse(body);
      const problems = parsed.ok ? [] : parsed.problems;
      // JSON Schema cannot say that a text must not be blank, nor what two fields must be together.
      const blank = pathsOf(problems.filter(({ message }) => message.includes('not empty')));
      const expected = described.success
        ? blank.length === 0
          ? brokenRule(type, body as Record<string, unknown>)
          : []
        : pathsOf(problemsOf(described.error));
      const others = (paths: string[]): string[] => paths.filter((path) => !blank.includes(path));
      expect(others(pathsOf(problems))).toEqual(others(expected));
    });
    expect(() => always(same, { numRuns: 5_000 })).not.toThrow();
  });

  it('any value is accepted or refused with paths, and never throws', () => {
    const told = property(anyType, anything(), (type, body) => {
      const parsed = parseMessage(type, body);
      const problems = parsed.ok ? [] : parsed.problems;
      expect(problems.filter(({ path, message }) => !path.startsWith('$') || message === '')).toEqual([]);
      expect(parsed.ok).toBe(problems.length === 0);
    });
    expect(() => always(told)).not.toThrow();
  });

  it.each<[MessageType, unknown, string]>([
    ['override', {}, '$.override_by: required'],
    ['override', { override_by: 'ada' }, '$: set override_fatigue or override_max_reruns to true'],
    ['override', { override_fatigue: null, override_by: 'ada' }, '$.override_fatigue: expected true or false'],
    ['override', { override_fatigue: true, override_by: ' ' }, '$.override_by: expected a text that is not empty'],
    [
      'override',
      { overide_fatigue: true, override_by: 'ada' },
      '$.overide_fatigue: unknown field; did you mean override_fatigue?',
    ],
    ['override', { override_fatigue: true, override_by: 'ada', loop_id: 'x' }, '$.loop_id: unknown field'],
    ['answer', { question_id: 'q', decision: 'correct', by: 'ada' }, '$.text: required with the decision correct'],
    [
      'answer',
      { question_id: 'q', decision: 'correct', text: null, by: 'a' },
      '$.text: required with the decision correct',
    ],
    ['answer', { question_id: 'q', decision: 'skip', output: 1, by: 'a' }, '$.output: only with the decision done'],
    [
      'answer',
      { question_id: 'q', decision: 'done', output: 'x'.repeat(CAP.answerOutputChars), by: 'a' },
      '$.output: expected at most 65536 characters of JSON',
    ],
    ['feedback', { text: 'x'.repeat(CAP.textChars + 1), by: 'ada' }, '$.text: expected at most 4000 characters'],
    ['supersede', { fingerprint: 'fp1:x' }, '$.by: required'],
    ['supersede', { fingerprint: ' ', by: 'ada' }, '$.fingerprint: expected a text that is not empty'],
    ['cancel_run', { by: 'x'.repeat(CAP.nameChars + 1) }, '$.by: expected at most 128 characters'],
    ['cancel_run', new Uint8Array(3), '$: expected a JSON object'],
    ['cancel_run', [], '$: expected a JSON object'],
  ])('%s with %j is refused with its path', (type, body, problem) => {
    const parsed = parseMessage(type, body);
    expect(parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([problem]);
  });
});

describe('the description of messages', () => {
  it('every message that Temporal accepts is described, and no other', () => {
    expect([...TYPES].sort()).toEqual(Object.values(MESSAGE).sort());
  });

  it('the types of messages are as precise as their fields', () => {
    expectTypeOf<MessageOf<'override'>>().toEqualTypeOf<{
      type: 'override';
      override_fatigue?: boolean;
      override_max_reruns?: boolean;
      override_by: string;
      override_reason?: string;
    }>();
    expectTypeOf<MessageOf<'answer'>['decision']>().toEqualTypeOf<Decision>();
    expectTypeOf<MessageOf<MessageType>>().toEqualTypeOf<RunMessage>();
  });
});
