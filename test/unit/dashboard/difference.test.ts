/** The comparison of two prompts, without a browser. */
import { describe, expect, it } from 'vitest';
import { compareLines, comparePrompts } from '../../../src/dashboard/run/difference.ts';

const message = (role: 'system' | 'user' | 'assistant' | 'tool', content: string) => ({ turn: 1, role, content });
const marks = (before: string, after: string): string[] =>
  compareLines(before, after).map(({ mark, text }) => `${mark} ${text}`);

describe('lines', () => {
  it('equal lines stay, others are removed or added in their place', () => {
    expect(marks('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toEqual([
      'same a',
      'removed b',
      'added x',
      'same c',
      'added y',
      'same d',
    ]);
    expect(marks('', '')).toEqual(['same ']);
    expect(marks('a', 'a\na')).toEqual(['same a', 'added a']);
  });

  it('texts of many different lines are compared quickly, without finding every equal line', () => {
    const before = Array.from({ length: 5_000 }, (_, n) => `old ${n}`).join('\n');
    const after = Array.from({ length: 5_000 }, (_, n) => `new ${n}`).join('\n');
    const lines = compareLines(before, after);
    expect(lines.filter(({ mark }) => mark === 'removed')).toHaveLength(5_000);
    expect(lines.filter(({ mark }) => mark === 'added')).toHaveLength(5_000);
  });
});

describe('prompts', () => {
  it('a message that changed is compared by lines, and later messages are new', () => {
    const before = [message('system', 'Work well.'), message('user', 'Goal\nread')];
    const after = [
      message('system', 'Work well.'),
      message('user', 'Goal\nread it\nslowly'),
      { ...message('assistant', ''), tool_calls: [{ id: '1', tool: 'look', input: 1 }] },
    ];
    expect(comparePrompts(before, after).map(({ role, mark }) => `${role} ${mark}`)).toEqual([
      'system same',
      'user changed',
      'assistant added',
    ]);
    expect(comparePrompts(before, after)[1]?.lines.map(({ mark }) => mark)).toEqual([
      'same',
      'removed',
      'added',
      'added',
    ]);
    expect(comparePrompts([], after).every(({ mark }) => mark === 'added')).toBe(true);
  });
});
