/** Which values a lesson may tell other runs. Needs nothing. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimOf, tellLesson, withoutOutputs } from '../../../../src/core/lessons/tell-lesson.ts';
import {
  hideData,
  mentions,
  saysSomething,
  sortArguments,
  type ValueEvidence,
} from '../../../../src/core/lessons/travelling-values.ts';
import type { LessonRemedy, PlainValue } from '../../../../src/protocol/lessons.ts';

const evidence = (over: Partial<ValueEvidence> = {}): ValueEvidence => ({
  error_text: '',
  stated: {},
  own_texts: [],
  ...over,
});
const tells = (name: string, before: PlainValue, value: PlainValue, over: Partial<ValueEvidence>) =>
  sortArguments([{ name, value, before }], evidence(over));

describe('a value travels', () => {
  it.each([
    ['limit 500 is over 100', { name: 'limit', value: 100, before: 500, because: 'error' }],
    ['at most 100 rows are allowed', { name: 'limit', value: 100, because: 'error' }],
    ['limit must be <= 100', { name: 'limit', value: 100, because: 'error' }],
    ['expected between 1 and 100', { name: 'limit', value: 100, because: 'error' }],
  ])('when the error names it as a limit: %s', (error_text, expected) => {
    expect(tells('limit', 500, 100, { error_text })).toEqual({ told: [expected], unexplained: [] });
  });

  it('with its thousands separated', () => {
    expect(tells('limit', 5_000, 1_000, { error_text: 'the maximum is 1,000' }).told).toHaveLength(1);
  });

  it('when the schema states it and excludes the value before it', () => {
    expect(tells('limit', 500, 100, { stated: { limit: [1, 100] } }).told).toEqual([
      { name: 'limit', value: 100, because: 'schema' },
    ]);
    expect(tells('format', 'xls', 'csv', { stated: { format: ['csv', 'json'] } }).told).toHaveLength(1);
  });

  it('not when the schema allows both values, because then it does not say which one works', () => {
    const { told, unexplained } = tells('suite', 'bad', 'ok', { stated: { suite: ['bad', 'ok'] } });
    expect([told.length, unexplained.length]).toEqual([0, 1]);
  });

  it('not when the error only contains the word', () => {
    expect(tells('suite', 'bad', 'ok', { error_text: '3 ok, 2 failed; all must pass' }).told).toEqual([]);
  });
});

describe('a value of the run', () => {
  const value = fc.oneof(fc.integer({ min: 2, max: 99_999 }), fc.stringMatching(/^[a-z]{3,12}$/));

  it('never travels, whatever the error and the schema say', () => {
    fc.assert(
      fc.property(value, value, fc.string(), fc.string(), (own, before, head, tail) => {
        const sorted = tells('a', before, own, {
          error_text: `a must be over ${own}`,
          stated: { a: [own] },
          own_texts: [`${head} ${own} ${tail}`],
        });
        expect(sorted).toEqual({ told: [], unexplained: [] });
      }),
    );
  });

  it('is never told beside one that travels', () => {
    fc.assert(
      fc.property(value, (own) => {
        const { told } = tells('a', own, 'zzzzz', {
          error_text: `a was ${own}; it must be zzzzz`,
          own_texts: [JSON.stringify({ order: own })],
        });
        expect(told).toEqual([{ name: 'a', value: 'zzzzz', because: 'error' }]);
      }),
    );
  });

  it('is hidden in what a tool reports', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 9_999_999 }), fc.string(), fc.string(), (own, head, tail) => {
        const hidden = hideData(`asked for ${own} instead of pages of 50000000`, [`${head} ${own} ${tail}`]);
        expect(hidden).toBe('asked for … instead of pages of 50000000');
      }),
    );
    expect(saysSomething('… …')).toBe(false);
  });

  it('is found only as a whole word or number', () => {
    expect(['over 100', '100.', '(100)', 'x=100', '"100"'].every((text) => mentions(text, '100'))).toBe(true);
    expect(['1001', '100.5', 'v100', '2.100', '100_000'].some((text) => mentions(text, '100'))).toBe(false);
  });
});

describe('a lesson', () => {
  const remedy: LessonRemedy = {
    failure: 'If stock fails with HTTP_422',
    differences: ['arguments'],
    tool_name: 'stock',
    told: [],
    unexplained: [{ name: 'zone', value: 'north' }],
    constraints: {},
    reported: null,
    earlier_outputs: [],
    goal_hash: 'g',
    input_hash: null,
  };

  it('that says nothing has no text', () => {
    expect(tellLesson(remedy)).toBeNull();
    expect(tellLesson({ ...remedy, differences: ['reported'], reported: '… …' })).toBeNull();
  });

  it('tells a value that other runs agree on', () => {
    expect(tellLesson(remedy, new Set([claimOf({ name: 'zone', value: 'north' })]))).toBe(
      'If stock fails with HTTP_422, then what worked was zone north.',
    );
  });

  it('tells no value that occurs in an earlier output, and none if the outputs cannot be read', () => {
    const agreed = new Set([claimOf({ name: 'zone', value: 'north' })]);
    expect(tellLesson(withoutOutputs(remedy, ['{"zones":["north"]}']), agreed)).toBeNull();
    expect(tellLesson(withoutOutputs(remedy, null), agreed)).toBeNull();
    expect(tellLesson(withoutOutputs(remedy, ['{}']), agreed)).not.toBeNull();
  });
});
