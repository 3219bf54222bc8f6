/** The check that a value of a request is JSON: it takes and refuses what `z.json()` does. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { jsonValueSchema } from '../../../src/protocol/schemas/json-value.ts';
import { planStepSchema } from '../../../src/protocol/schemas/plan.ts';

it('takes any JSON, unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      expect(jsonValueSchema.parse(value)).toEqual(value);
    }),
  );
});

it.each([
  ['nothing', undefined],
  ['a big integer', 1n],
  ['a number that is not finite', Number.NaN],
  ['a date', new Date(0)],
  ['a function in a list', [() => 1]],
  ['an undefined member', { a: undefined }],
  ['a map', { a: new Map() }],
])('refuses %s, as z.json() does', (_what, value) => {
  expect(jsonValueSchema.safeParse(value).success).toBe(false);
  expect(z.json().safeParse(value).success).toBe(false);
});

it('is required where it is not optional', () => {
  expect(planStepSchema.safeParse({ phase: 'act', tool: 'pay' }).error?.issues).toMatchObject([{ path: ['input'] }]);
  expect(planStepSchema.safeParse({ phase: 'act', tool: 'pay', input: null }).success).toBe(true);
});
