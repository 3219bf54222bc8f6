/** The policy's check for workflows, which have no zod: it says of names, numbers and words what the schema says. */
import { describe, expect, it } from 'vitest';
import { problemsOfPolicy } from '../../../../src/core/policy/check-policy.ts';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';
import { policyPatchSchema } from '../../../../src/protocol/schemas/policy.ts';

describe('a policy without zod', () => {
  it.each([
    [{ budget: { max_step: 3 } }, '$.policy.budget.max_step: unknown key; did you mean max_steps?'],
    [{ budgets: {} }, '$.policy.budgets: unknown key; did you mean budget?'],
    [{ mode: 'enfroce' }, '$.policy.mode: expected one of enforce, guide, observe; did you mean enforce?'],
    [{ budget: { max_steps: -5 } }, '$.policy.budget.max_steps: expected a whole number from 1 to 10000'],
    [{ budget: { max_tokens: 'many' } }, '$.policy.budget.max_tokens: expected a whole number from 0 to 1000000000'],
    [{ budget: 7 }, '$.policy.budget: expected an object'],
    [{ toString: {} }, '$.policy.toString: unknown key'],
    [{ retry: { enhance: 'yes' } }, '$.policy.retry.enhance: expected true or false'],
    [{ loops: { ignore_tools: 'poll' } }, '$.policy.loops.ignore_tools: expected a list of texts'],
    [[], '$.policy: expected an object'],
    [null, '$.policy: expected an object'],
  ])('refuses %j', (patch, told) => {
    expect(problemsOfPolicy(patch).map(({ path, message }) => `${path}: ${message}`)).toEqual([told]);
  });

  it('takes every default, any part of them, and parts without a value', () => {
    expect(problemsOfPolicy(DEFAULT_POLICY)).toEqual([]);
    expect(problemsOfPolicy(undefined)).toEqual([]);
    expect(problemsOfPolicy({ mode: undefined, budget: { max_steps: 3, soft: undefined } })).toEqual([]);
  });

  const members = Object.entries(DEFAULT_POLICY).flatMap(([part, defaults]) =>
    typeof defaults === 'string' ? [] : Object.keys(defaults).map((key) => [part, key] as const),
  );
  const whole = [0, 1, 2, 3, 10, 11, 20, 21, 100, 101, 199, 200, 1_000, 1_001, 8_000, 8_001, 10_000, 10_001, 100_000];
  const large = [100_001, 3_600_000, 3_600_001, 31_622_400, 31_622_401, 86_400_000, 86_400_001, 31_622_400_000];
  const largest = [31_622_400_001, 1_000_000_000, 1_000_000_001, 1_000_000_000_000, 1_000_000_000_001];
  const others = [
    -1,
    -0.1,
    0.5,
    1.5,
    10.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    false,
    'many',
    null,
    {},
    [],
    [7],
  ];
  const words = ['finalize', 'ask_human', 'family', 'global', 'agent', 'run', 'stop', 'skip', 'deny', 'enforce'];
  it.each(members)('agrees with the schema about %s.%s', (part, key) => {
    for (const value of [...whole, ...large, ...largest, ...others, ...words]) {
      const patch = { [part]: { [key]: value } };
      const refused = problemsOfPolicy(patch).length > 0;
      expect({ value, refused }).toEqual({ value, refused: !policyPatchSchema.safeParse(patch).success });
    }
  });
});
