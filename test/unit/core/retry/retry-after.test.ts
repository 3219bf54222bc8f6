import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../../../src/core/retry/retry-after.ts';

const NOW = Date.UTC(2026, 1, 28, 23, 59, 50);

describe('Retry-After', () => {
  test.each<[unknown, number | undefined]>([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5_000],
    ['1.5', 1_500],
    [2, 2_000],
    ['999999999999999', 999_999_999_999_999_000],
    ['Sun, 01 Mar 2026 00:00:00 GMT', 10_000],
    ['Sunday, 01-Mar-26 00:00:00 GMT', 10_000],
    ['Sun Mar  1 00:00:00 2026', 10_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['', undefined],
    ['soon', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['Sun, 01 Foo 2026 00:00:00 GMT', undefined],
    ['Sun, 41 Mar 2026 00:00:00 GMT', undefined],
    ['Sun, 01 Mar 2026 25:00:00 GMT', undefined],
    ['2026-03-01T00:00:00Z', undefined],
    ['9'.repeat(100), undefined],
    [Number.NaN, undefined],
    [-3, undefined],
    [null, undefined],
    [{}, undefined],
  ])('Retry-After %j is read as %s ms', (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });

  test('a Retry-After date needs the current time', () => {
    expect(parseRetryAfter('Sun, 01 Mar 2026 00:00:00 GMT')).toBeUndefined();
  });

  test('Retry-After dates over four centuries equal those of Date', () => {
    const date = fc.date({ min: new Date(0), max: new Date('2399-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(date, (at) => {
        const whole = Math.floor(at.getTime() / 1_000) * 1_000;
        expect(parseRetryAfter(at.toUTCString(), 0)).toBe(whole);
      }),
    );
  });
});
