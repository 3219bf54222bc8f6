/** Times as text. They are part of stored records, so they have to be what `Date` writes. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from '../../../src/protocol/time.ts';

it('is the text that Date writes, for any times in any order', () => {
  const days = fc.integer({ min: -800_000, max: 4_000_000 });
  const times = fc.array(fc.integer({ min: 0, max: 86_399_999 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(days, times, (day, ofDay) => {
      for (const ms of ofDay) {
        const epochMs = day * 86_400_000 + ms;
        expect(isoTime(epochMs)).toBe(new Date(epochMs).toISOString());
      }
    }),
  );
  expect(isoTime(1_000.5)).toBe('1970-01-01T00:00:01.000Z');
});
