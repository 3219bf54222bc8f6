import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectFeedback } from '../../../../src/core/feedback/detect.ts';
import { scorePrompt } from '../../../../src/core/feedback/rubric.ts';
import { refinePrompt } from '../../../../src/core/feedback/refine.ts';
import { selectActions } from '../../../../src/core/feedback/actions.ts';
import { corpus } from './corpus.ts';

const timestamp = '2026-02-01T10:30:00Z';
const types = (text: string): string[] => selectActions(detectFeedback(text)).map((action) => action.type);

describe('selectActions', () => {
  it('actions come in the priority order of their type', () => {
    expect(types('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1')).toEqual([
      'add_context',
      'add_constraint',
      'request_approach',
    ]);
    expect(types('The test "adds" fails: expected 3 to equal 4')).toEqual([
      'add_test_context',
      'specify_behavior',
      'request_validation',
    ]);
    expect(types('No, I want a table. Use markdown instead.')).toEqual([
      'request_clarification',
      'narrow_scope',
      'offer_alternatives',
    ]);
    expect(types('Good, but the title should be shorter')).toEqual([
      'focus_on_gap',
      'add_targeted_constraint',
      'request_incremental_fix',
    ]);
  });

  it('an action whose slot has no value is left out', () => {
    expect(types('it crashed')).toEqual(['request_approach']);
    expect(types('tests failed')).toEqual(['request_validation']);
  });

  it('an action never contains an unfilled slot', { timeout: 60_000 }, () => {
    for (const { text } of corpus)
      for (const action of selectActions(detectFeedback(text))) {
        expect(action.text).not.toMatch(
          /\{(?:error_message|framework|check|behaviour|remark|requested_change|alternatives|gap)\}/,
        );
        expect(action.text).not.toContain('\n');
      }
  });
});

describe('refinePrompt', () => {
  it('refining a prompt logs every iteration in the format of the log', () => {
    const { iterations, refined_prompt } = refinePrompt('review the code', 'wrong, I meant security review', {
      timestamp,
    });
    expect(iterations[0]).toEqual({
      timestamp,
      original_prompt: 'review the code',
      feedback_type: 'user_rejection',
      feedback_signal: 'wrong, I meant security review',
      actions_applied: ['request_clarification', 'narrow_scope'],
      refined_prompt,
      iteration: 1,
      success: true,
    });
    expect(refined_prompt).toContain('security review');
  });

  it('refining returns the prompt unchanged when nothing is detected', () => {
    const result = refinePrompt('review the code', 'all tests passed', { timestamp });
    expect(result).toEqual({
      refined_prompt: 'review the code',
      score: scorePrompt('review the code'),
      iterations: [],
    });
  });

  it('refining applies actions before the first score and stops at the target', () => {
    const scored: string[] = [];
    const score = (prompt: string): number => scored.push(prompt) * 0 + 7;
    const { iterations } = refinePrompt('a', 'it crashed', { timestamp, score });
    expect(iterations).toHaveLength(1);
    expect(scored[0]).not.toBe('a');
    expect(iterations[0]?.success).toBe(true);
  });

  it('refining stops when an iteration changes nothing, and never exceeds its maximum', () => {
    expect(refinePrompt('a', 'it crashed', { timestamp, score: () => 0 }).iterations).toHaveLength(2);
    expect(
      refinePrompt('a', 'it crashed', { timestamp, score: () => 0, max_refinement_iterations: 1 }).iterations,
    ).toHaveLength(1);
    expect(refinePrompt('a', 'it crashed', { timestamp, max_refinement_iterations: 0 }).refined_prompt).toBe('a');
  });

  it('refining a refined prompt changes nothing', { timeout: 60_000 }, () => {
    const feedback = fc.oneof(fc.constantFrom(...corpus.map((sample) => sample.text)), fc.string());
    fc.assert(
      fc.property(fc.string(), feedback, (prompt, text) => {
        const once = refinePrompt(prompt, text, { timestamp }).refined_prompt;
        expect(refinePrompt(once, text, { timestamp }).refined_prompt).toBe(once);
      }),
    );
  });
});

describe('scorePrompt', () => {
  it('the score of a prompt is between 0 and 10 and never falls when a line is added', () => {
    expect(scorePrompt('')).toBe(0);
    fc.assert(
      fc.property(fc.string(), fc.string(), (prompt, line) => {
        const [before, after] = [scorePrompt(prompt), scorePrompt(`${prompt}\n${line}`)];
        expect(after).toBeGreaterThanOrEqual(before);
        expect(after).toBeLessThanOrEqual(10);
      }),
    );
  });

  it('a prompt that tells everything gets the full score', () => {
    const prompt = 'The last attempt failed in cart.ts. First fix the total, then run the tests; only change `sum`.';
    expect(scorePrompt(prompt)).toBe(10);
  });
});
