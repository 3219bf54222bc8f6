/** What a review that was mended teaches other runs: rules, not the data of the reviewed run. */
import { describe, expect, it } from 'vitest';
import { lessonFromReview } from '../../../../src/core/lessons/review-lesson.ts';

const learn = (missed: string[], scores: [number, number] = [0.2, 0.9], own_texts: string[] = []) =>
  lessonFromReview({
    missed,
    score_before: scores[0],
    score_after: scores[1],
    goal: 'Write it.',
    context: 'the review of pass p',
    iteration: 1,
    own_texts,
  });

describe('a review whose findings were mended', () => {
  it('becomes a lesson with the measured gain', () => {
    expect(learn(['the answer does not name its sources'])).toMatchObject({
      error_type: 'quality_improvement',
      content: 'Quality improved by 0.70: the answer does not name its sources',
      quality_delta: 0.7,
      iteration: 1,
    });
    expect(learn(['it CONFLICTS with the stated price'])?.error_type).toBe('factual_error');
  });

  it.each([
    ['a number', 'the answer leaves out order 4711 of the list'],
    ['a name', 'the answer leaves out what Ada asked for'],
    ['an address', 'the answer leaves out ada@example.com and her wish'],
    ['a quoted text', 'the answer leaves out "4 red chairs" from the list'],
    ['a path', 'the answer leaves out src/orders/ada and its wish'],
  ])('does not tell %s', (_what, missed) => {
    const content = learn([missed])?.content ?? '';
    expect(content).toContain('the answer leaves out');
    expect(content).toContain('…');
    expect(content).not.toMatch(/4711|Ada|ada|chairs|orders/);
  });

  it('teaches nothing if only data is left, or if the score rose too little', () => {
    expect(learn(['order 4711: 18 of 20'])).toBeNull();
    expect(learn([])).toBeNull();
    expect(learn(['the answer does not name its sources'], [0.8, 0.9])).toBeNull();
  });
});
