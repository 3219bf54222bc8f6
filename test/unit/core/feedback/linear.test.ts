/** That no expression can be made slow by nesting; the ratio test of the detector measures the rest. */
import { describe, expect, it } from 'vitest';
import { allRegexes } from './regexes.ts';

describe('the expressions of the feedback core', () => {
  it('have no unbounded repeat inside a repeat', () => {
    for (const { regex } of allRegexes()) expect(regex.source).not.toMatch(/[*+]\)[*+{]/);
  });
});
