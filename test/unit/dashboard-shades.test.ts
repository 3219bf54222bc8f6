/** The strip of a run and the strip of a transcript have the same colours. Needs nothing. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SHADES } from '../../src/core/strip/strip-marks.ts';

it('the dashboard has the shades of failures that reports have', () => {
  const tokens = readFileSync(new URL('../../src/dashboard/style/tokens.css', import.meta.url), 'utf8');
  const shades = [...tokens.matchAll(/--shade-\d: light-dark\((#\w+), (#\w+)\);/g)].map(([, light, dark]) => [
    light,
    dark,
  ]);
  expect(shades).toEqual(SHADES);
});
