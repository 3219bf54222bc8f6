import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedbackType } from '../../../../src/core/feedback/types.ts';
import { detectFeedback } from '../../../../src/core/feedback/detect.ts';

const table: [string, FeedbackType | null][] = [
  ['There were errors', 'runtime_error'],
  ['TypeError: x is not a function', 'runtime_error'],
  ['exit code 127', 'runtime_error'],
  ['The script failed with exit code 2', 'runtime_error'],
  ['returned a non-zero exit code', 'runtime_error'],
  ['null pointer', 'runtime_error'],
  ['{"error":{"code":429,"message":"slow down"}}', 'runtime_error'],
  ['tests failed', 'verification_failure'],
  ['expected 3 to equal 4', 'verification_failure'],
  ['The total should be 42 but is 41', 'verification_failure'],
  ['schema mismatch', 'verification_failure'],
  ['build failed', 'verification_failure'],
  ['FAILURES!\nTests: 3, Assertions: 3, Failures: 1.', 'verification_failure'],
  ['a.cs(3,5): error CS1002: ; expected', 'verification_failure'],
  ['no', 'user_rejection'],
  ['that’s not what I meant', 'user_rejection'],
  ["that's not what I meant", 'user_rejection'],
  ['IT DOES NOT WORK', 'user_rejection'],
  ['completely wrong', 'user_rejection'],
  ['close but not quite', 'partial_success'],
  ['Works but slow', 'partial_success'],
  ['everything is fine except the title', 'partial_success'],
  ['The export crashes. The login works now.', 'runtime_error'],
  ['If I press save twice it crashes.', 'runtime_error'],
  ['I fixed the config. The build is still broken.', 'verification_failure'],
  ['Can you look at the failing tests in CI?', 'verification_failure'],
  ['```\nTypeError: x is not a function\n```', 'runtime_error'],
  ['The tests failed. They pass now.', null],
  ['If a test fails, the deploy is stopped.', null],
  ['None of the requests timed out or failed.', null],
  ['I will check the logs for errors.', null],
  ['The market crashed in 1929.', null],
  ['src/a.ts:3:  throw new Error("x");\nsrc/b.ts:9:  error: Error;\nsrc/c.ts:1:// failed: it crashed', null],
  ['no errors', null],
  ['0 failed', null],
  ['all tests passed', null],
  ['no problem', null],
  ['It no longer fails.', null],
  ['I expect you to ship', null],
  ['You should rest, but the choice is yours.', null],
  ['Do you have any questions? No', null],
  ['Do you have any questions?\nNo.', null],
  ['exit code 0', null],
  ['[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS', null],
  ['', null],
];

describe('detectFeedback', () => {
  it.each(table)('%j is %s', (text, type) => {
    expect(detectFeedback(text).feedback_type).toBe(type);
  });

  it('confidence starts at 0.5 and grows by a tenth per further family, in exact decimals', () => {
    expect(detectFeedback('it crashed').confidence).toBe(0.5);
    expect(detectFeedback('it crashed with exit code 3').confidence).toBe(0.6);
    expect(detectFeedback('completely wrong, it does not work').confidence).toBe(0.7);
  });

  it('each boost of confidence is added once', () => {
    expect(detectFeedback('fatal: not a git repository').confidence).toBe(0.8);
    expect(detectFeedback('The test "adds" fails').confidence).toBe(0.7);
    expect(detectFeedback('try again, try again').confidence).toBe(0.7);
    expect(detectFeedback('mostly works').confidence).toBe(0.5);
    expect(detectFeedback('mostly works, rename the file').confidence).toBe(0.6);
  });

  it('confidence never exceeds 1', () => {
    expect(detectFeedback('TypeError: a\n    at f (a.js:1:2)\nexit code 1\nsyntax error near x').confidence).toBe(1);
  });

  it('on a tie the more specific type is detected', () => {
    expect(detectFeedback('it crashed and it is wrong').feedback_type).toBe('runtime_error');
    expect(detectFeedback('the tests failed and it is wrong').feedback_type).toBe('verification_failure');
  });

  it('a stack trace inside a failed test counts for the test', () => {
    const found = detectFeedback('FAIL a.test.js\n  ● adds\n    TypeError: x is not a function\n      at f (a.js:1:2)');
    expect(found.feedback_type).toBe('verification_failure');
    expect(found.matches.map((match) => match.feedback_type)).not.toContain('runtime_error');
    expect(found.context).toMatchObject({ test_name: 'adds', error_message: 'TypeError: x is not a function' });
  });

  it('the context contains expected and actual values, exit code and framework', () => {
    expect(detectFeedback('expected 3 to equal 4').context).toMatchObject({ expected: '4', actual: '3' });
    expect(detectFeedback('The total should be 42 but is 41').context).toMatchObject({ expected: '42', actual: '41' });
    expect(detectFeedback('it crashed with exit code 137').context.exit_code).toBe(137);
    expect(
      detectFeedback('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1').context,
    ).toMatchObject({
      framework: 'Python',
      error_message: 'KeyError: 1',
      stack_trace: true,
    });
  });

  it('detection never throws, and its confidence is 0 or between one half and one', { timeout: 60_000 }, () => {
    const words = fc.constantFrom(
      'no',
      'error',
      'expected',
      '3',
      'to be',
      'but',
      'tests',
      'failed',
      '\n',
      '?',
      '"',
      '{',
      '0',
      'almost',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { feedback_type, confidence, matches } = detectFeedback(text);
        const steps = feedback_type === null ? [0] : [0.5, 0.6, 0.7, 0.8, 0.9, 1];
        expect(steps).toContain(confidence);
        expect(matches.length > 0).toBe(feedback_type !== null);
      }),
    );
  });

  it.each([
    ['one line without a space', (chars: number) => 'a'.repeat(chars)],
    ['dots', (chars: number) => '.'.repeat(chars)],
    ['half assertions', (chars: number) => 'expected 1 to '.repeat(chars / 14)],
    ['half judgements', (chars: number) => 'good besides ok, just '.repeat(chars / 22)],
    ['half conditions', (chars: number) => 'if it not fails, error when '.repeat(chars / 28)],
    ['half stack frames', (chars: number) => '  at (:a:1(:'.repeat(chars / 12)],
    ['half comparisons', (chars: number) => 'expected a got should be 1 but it = 2, want '.repeat(chars / 44)],
    ['source code', (chars: number) => '  const error: Error = failed("x", {\n'.repeat(chars / 38)],
    ['log lines', (chars: number) => '10:00:00 INFO request done in 12 ms, good but slow\n'.repeat(chars / 51)],
  ])('reads a megabyte of %s in linear time', { timeout: 60_000 }, (_name, make) => {
    const best = (text: string): number => {
      let least = Infinity;
      for (let round = 0; round < 4; round += 1) {
        const start = process.cpuUsage().user;
        detectFeedback(text);
        least = Math.min(least, (process.cpuUsage().user - start) / 1_000);
      }
      return least;
    };
    // Once before measuring: expressions are compiled on their first uses.
    best(make(200_000));
    const half = best(make(500_000));
    // Processor time and the best of four, because the machine is shared; 50 ms of grace for the collector.
    expect(best(make(1_000_000))).toBeLessThan(half * 3 + 50);
  });

  it('a failure in the middle of a megabyte is detected', () => {
    const noise = 'request done in 12 ms\n'.repeat(22_000);
    expect(detectFeedback(`${noise}TypeError: x is not a function\n${noise}`).feedback_type).toBe('runtime_error');
  });
});
