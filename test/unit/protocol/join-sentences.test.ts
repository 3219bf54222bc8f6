import { describe, expect, it } from 'vitest';
import { joinSentences } from '../../../src/protocol/well-formed-text.ts';

describe('what happened and what to do', () => {
  it.each([
    [['$.agent: no agent named nope', 'Correct it.'], '$.agent: no agent named nope. Correct it.'],
    [
      ['no agent named demmo; did you mean demo?', 'Correct it.'],
      'no agent named demmo; did you mean demo? Correct it.',
    ],
    [['There is no run x.', 'Check the id.'], 'There is no run x. Check the id.'],
    [['It failed', null], 'It failed'],
    [['It failed', ''], 'It failed'],
    [['', 'Try again.'], 'Try again.'],
  ])('%j reads %s', (parts, text) => {
    expect(joinSentences(...parts)).toBe(text);
  });
});
