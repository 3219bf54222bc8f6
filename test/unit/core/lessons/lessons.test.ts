/** Signature, stored form, the behaviour gate, repetitions and the choice of lessons. No store. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareBehaviour } from '../../../../src/core/lessons/compare-behaviour.ts';
import { errorSignature } from '../../../../src/core/lessons/signature.ts';
import { findNearIdentical } from '../../../../src/core/lessons/near-identical.ts';
import { firstCodePoints, trimWhiteSpace } from '../../../../src/core/lessons/unicode-text.ts';
import { rankLessons } from '../../../../src/core/lessons/rank-lessons.ts';
import { reflectionFromEvaluation } from '../../../../src/core/lessons/from-evaluation.ts';
import { hasSameRemedy } from '../../../../src/core/lessons/same-remedy.ts';
import { toStoredLesson } from '../../../../src/core/lessons/stored-lesson.ts';
import type { AttemptInAction } from '../../../../src/core/lessons/compare-behaviour.ts';
import type { Lesson } from '../../../../src/core/lessons/rank-lessons.ts';

describe('a signature', () => {
  test('a signature lower-cases as Python does: final sigma, dotted I, sharp s', () => {
    expect(errorSignature('t', 'ΟΔΟΣ')).toBe(errorSignature('t', 'οδος'));
    expect(errorSignature('t', 'ΟΔΟΣ')).not.toBe(errorSignature('t', 'οδοσ'));
    expect(errorSignature('t', 'İ')).toBe(errorSignature('t', 'i\u0307'));
    expect(errorSignature('t', 'ẞ')).toBe(errorSignature('t', 'ß'));
  });

  test('a signature ignores case and white space at both ends, and nothing else', () => {
    const blank = fc.constantFrom(' ', '\n', '\t', '\u00a0', '\u0085', '\u2028', '\u3000', '\u001c', '\u001f');
    const blanks = fc.array(blank, { maxLength: 5 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), blanks, blanks, (content, before, after) => {
        const signature = errorSignature('conflict', content);
        expect(signature).toMatch(/^[0-9a-f]{16}$/);
        expect(errorSignature('conflict', before + content.toUpperCase() + after)).toBe(signature);
        expect(errorSignature('factual_error', content)).not.toBe(signature);
        expect(errorSignature('conflict', `${content}.`)).not.toBe(signature);
      }),
    );
  });

  test('a signature of a long run of spaces takes linear time', () => {
    expect(trimWhiteSpace(`a${' '.repeat(1_000_000)}b${' '.repeat(1_000_000)}`)).toHaveLength(1_000_002);
  });
});

describe('lengths', () => {
  test('lengths count code points, so no character is split', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, count) => {
        expect(firstCodePoints(text, count)).toBe(Array.from(text).slice(0, count).join(''));
      }),
    );
  });
});

describe('an evaluation', () => {
  test('an evaluation without a critique, results or a claim is read as if they were unknown', () => {
    const qualities = { quality_before: 0.5, quality_after: 0.5 };
    expect(reflectionFromEvaluation(qualities)).toBeNull();
    expect(reflectionFromEvaluation({ ...qualities, critique: null, verification_results: null })).toBeNull();
    const claim = { ...qualities, verification_results: [{ status: 'unverified', claim_text: null }] };
    expect(reflectionFromEvaluation(claim)?.content).toBe('Made unverified claim about: Unknown');
  });

  test('an evaluation gives a lesson by its gain alone exactly when that is more than a tenth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 1_000 }), (before, after) => {
        const evaluation = { critique: 'fine', quality_before: before / 1_000, quality_after: after / 1_000 };
        const reflection = reflectionFromEvaluation(evaluation);
        expect(reflection !== null).toBe(after - before > 100);
        expect(reflection?.quality_delta ?? 0).toBe(reflection === null ? 0 : (after - before) / 1_000);
      }),
    );
  });
});

describe('the stored form', () => {
  test('a stored lesson has the category, tags and cuts of the source document', () => {
    const stored = toStoredLesson({
      error_type: 'conflict',
      error_signature: '0123456789abcdef',
      content: 'c'.repeat(500),
      context: '😀'.repeat(300),
      query: 'q'.repeat(300),
      iteration: 2,
      quality_delta: 0.2,
    });
    expect(stored).toEqual({
      category: 'reflection',
      content: 'c'.repeat(500),
      rationale: `Self-correction during: ${'😀'.repeat(100)}`,
      tags: ['reflection', 'self-correction', 'conflict', 'sig:0123456789abcdef'],
      context: {
        error_signature: '0123456789abcdef',
        original_query: 'q'.repeat(200),
        iteration_count: 2,
        quality_improvement: 0.2,
        reflection_context: '😀'.repeat(200),
      },
    });
  });
});

describe('behaviour changed', () => {
  const failed: AttemptInAction = { tool_name: 'search', input_hash: 'a', succeeded: false };
  const ok: AttemptInAction = { ...failed, succeeded: true };

  test.each<[string, Partial<AttemptInAction>]>([
    ['tool', { tool_name: 'fetch' }],
    ['arguments', { input_hash: 'b' }],
    ['constraints', { constraints: { timeout_ms: 5 } }],
    ['prompt', { prompt_hash: 'p' }],
    ['reported', { reported_changes: ['used the mirror'] }],
  ])('when the %s differed and the attempt did better', (difference, change) => {
    expect(compareBehaviour(failed, { ...ok, ...change })).toEqual({
      changed_behavior: true,
      differences: [difference],
      did_better: true,
    });
    expect(compareBehaviour(failed, { ...failed, ...change }).changed_behavior).toBe(false);
    expect(compareBehaviour(ok, { ...ok, ...change }).changed_behavior).toBe(false);
  });

  test('behaviour has not changed when the same call simply worked the second time', () => {
    expect(compareBehaviour(failed, ok).changed_behavior).toBe(false);
    const busy = { reported_changes: [' cache '] };
    expect(compareBehaviour({ ...failed, ...busy }, { ...ok, reported_changes: ['cache', ''] }).differences).toEqual(
      [],
    );
  });

  test('behaviour has not changed when only the order of keys in the constraints differs', () => {
    const one = { ...failed, constraints: { a: 1, b: 2 } };
    const other = { ...ok, constraints: { b: 2, a: 1 } };
    expect(compareBehaviour(one, other).differences).toEqual([]);
  });

  test('behaviour that changed counts by quality when both attempts succeeded', () => {
    const better = compareBehaviour({ ...ok, quality: 0.5 }, { ...ok, input_hash: 'b', quality: 0.6 });
    expect(better.changed_behavior).toBe(true);
    const equal = compareBehaviour({ ...ok, quality: 0.6 }, { ...ok, input_hash: 'b', quality: 0.6 });
    expect(equal.changed_behavior).toBe(false);
  });
});

describe('a repetition', () => {
  const known = (id: string, content: string, created_at: string) => ({
    id,
    content,
    created_at,
    error_signature: errorSignature('conflict', content),
  });
  const asked = (content: string) => ({ content, error_signature: errorSignature('conflict', content) });

  test('a repetition is the best match, then the oldest, and an equal signature beats any similarity', () => {
    const memory = [
      known('2', 'The totals of both tables differ by one cent', '2026-01-02'),
      known('1', 'the totals of both tables differ, by one cent', '2026-01-01'),
      known('3', 'Something else', '2026-01-03'),
    ];
    const match = findNearIdentical(asked('the totals of both tables differ by ONE cent!'), memory, 0.85);
    expect(match).toMatchObject({ known: { id: '1' }, score: 1, reason: 'similarity' });
    const exact = findNearIdentical(asked('THE TOTALS of both tables differ by one cent'), memory, 0.85);
    expect(exact).toMatchObject({ known: { id: '2' }, score: 1, reason: 'signature' });
    expect(findNearIdentical(asked('Nothing of the kind'), memory, 0.85)).toBeNull();
  });

  test('a repetition of a text without letters or digits is found by its signature only', () => {
    expect(findNearIdentical(asked('!!!'), [known('1', '!!!', 'x')], 0.85)?.reason).toBe('signature');
    expect(findNearIdentical(asked('!!!'), [known('1', '???', 'x')], 0.85)).toBeNull();
  });
});

describe('the lessons of a run', () => {
  const lesson = (id: string, more: Partial<Lesson> = {}): Lesson => ({
    id,
    content: '',
    tools: ['search'],
    pinned: false,
    uses: 0,
    successes: 0,
    last_seen_at: '2026-01-01',
    ...more,
  });
  const ids = (lessons: Lesson[], tools = ['search']) => rankLessons(lessons, tools).map(({ id }) => id);

  test('the lessons of a run are pinned first, then by success after use, then recent', () => {
    const lessons = [
      lesson('untried'),
      lesson('harmful', { uses: 4, successes: 0 }),
      lesson('helpful', { uses: 10, successes: 9 }),
      lesson('lucky', { uses: 1, successes: 1 }),
      lesson('recent', { last_seen_at: '2026-02-01' }),
      lesson('pinned', { pinned: true, uses: 9, successes: 0 }),
    ];
    expect(ids(lessons)).toEqual(['pinned', 'helpful', 'lucky', 'recent', 'untried']);
  });

  test('the lessons of a run are about its tools, by tool name or by a mention in the text', () => {
    const lessons = [
      lesson('a', { tools: ['fetch', 'search'] }),
      lesson('b', { tools: ['fetch'], content: 'search' }),
      lesson('c', { tools: [], content: 'Ask search for fewer rows.' }),
      lesson('d', { tools: [], content: 'research first' }),
    ];
    expect(ids(lessons)).toEqual(['a', 'c']);
    expect(ids(lessons, [])).toEqual([]);
  });

  test('the lessons of a run are the same five whatever order they are read in', () => {
    const many = fc.uniqueArray(
      fc.record({ id: fc.nat(99), uses: fc.nat(3), pinned: fc.boolean(), day: fc.integer({ min: 10, max: 12 }) }),
      { selector: ({ id }) => id, maxLength: 12 },
    );
    fc.assert(
      fc.property(many, (drawn) => {
        const lessons = drawn.map(({ id, uses, pinned, day }) =>
          lesson(`${id}`, { uses, pinned, successes: uses % 2, last_seen_at: `2026-01-${day}` }),
        );
        const chosen = ids(lessons);
        expect(chosen.length).toBe(Math.min(5, lessons.length));
        expect(ids([...lessons].reverse())).toEqual(chosen);
      }),
    );
  });
});

describe('two lessons that look alike', () => {
  test.each([
    [
      'the same',
      'If a fails with X, then what worked was limit 10 instead of 50.',
      'If a fails with X, then what worked was limit 10 instead of 50.',
      true,
    ],
    [
      'turned round',
      'If a fails with X, then what worked was zone b instead of c.',
      'If a fails with X, then what worked was zone c instead of b.',
      false,
    ],
    [
      'another value',
      'If a fails with X, then what worked was a time limit of 60000 ms.',
      'If a fails with X, then what worked was a time limit of 240000 ms.',
      false,
    ],
    ['other words, same values', 'Use port 8080 for the API server', 'use port 8080 for the API-server', true],
    ['same words, other values', 'Use port 8080 for the API server', 'Use port 8081 for the API server', false],
  ])('%s', (_name, one, other, same) => {
    expect(hasSameRemedy(one, other)).toBe(same);
  });
});
