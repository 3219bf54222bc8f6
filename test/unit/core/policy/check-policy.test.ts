/**
 * The table of the policy and what is made from it: the zod schemas of the API, the check of the workflows, which have no
 * zod, and the defaults. The schemas and the check have to agree on every value, by path and by message.
 */
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type Arbitrary,
  array,
  boolean,
  assert as always,
  constantFrom,
  double,
  integer,
  jsonValue,
  oneof,
  property,
  record,
  string,
  uniqueArray,
  webUrl,
} from 'fast-check';
import { isCompletePolicy, checkPolicy } from '../../../../src/core/policy/check-policy.ts';
import { problemsOf } from '../../../../src/define/zod-problems.ts';
import { DEFAULT_POLICY, policyKeysAt } from '../../../../src/protocol/policy.ts';
import { type ListSetting, POLICY_ROWS, type PolicyRow, type Setting } from '../../../../src/protocol/policy-table.ts';
import {
  type Policy,
  type PolicyPatch,
  policyPatchSchema,
  policySchema,
} from '../../../../src/protocol/schemas/policy.ts';

const RUNS = { numRuns: 2_000 };

/** What the schema says, as the API tells it: a path with several problems is told once. */
const toldBySchema = (patch: unknown): string[] => {
  const parsed = policyPatchSchema.safeParse(patch);
  return parsed.success ? [] : told(problemsOf(parsed.error, '$.policy', policyKeysAt));
};
const toldByCheck = (patch: unknown): string[] => told(checkPolicy(patch));
const told = (problems: { path: string; message: string }[]): string[] =>
  [...new Set(problems.map(({ path, message }) => `${path}: ${message}`))].sort();

/** A policy with only this setting. */
const patchOf = ({ keys }: PolicyRow, value: unknown): unknown =>
  keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

const allowedItem = ({ format, minChars, maxChars }: ListSetting['items']): Arbitrary<string> =>
  format === 'url' ? webUrl({ size: 'small' }) : string({ minLength: minChars, maxLength: maxChars });

/** Every value that the table allows, its edges more often than chance would have them. */
function allowedBy(setting: Setting): Arbitrary<unknown> {
  switch (setting.type) {
    case 'integer':
      return oneof(constantFrom(setting.min, setting.max), integer({ min: setting.min, max: setting.max }));
    case 'integer_or_null':
      return oneof(constantFrom(null, setting.min, setting.max), integer({ min: setting.min, max: setting.max }));
    case 'number':
      return oneof(constantFrom(setting.min, setting.max), double({ min: setting.min, max: setting.max, noNaN: true }));
    case 'boolean':
      return boolean();
    case 'choice':
      return constantFrom(...setting.choices);
    case 'list':
      return array(allowedItem(setting.items), { maxLength: setting.maxItems });
  }
}

/** Values at and beside the edges of a row, and what is of another type altogether. */
function nearTo(setting: Setting): Arbitrary<unknown> {
  const others = oneof(
    jsonValue(),
    constantFrom<unknown>(Number.NaN, Infinity, -Infinity, -1, 0.5, 1.5, true, 'many', null, {}, [], [7]),
  );
  switch (setting.type) {
    case 'integer':
    case 'integer_or_null':
    case 'number': {
      const { min, max } = setting;
      return oneof(constantFrom(min - 1, min, min + 0.5, max - 0.5, max, max + 0.5, max + 1), double(), others);
    }
    case 'boolean':
      return oneof(boolean(), others);
    case 'choice':
      return oneof(constantFrom(...setting.choices, ...setting.choices.map((word) => `${word}x`)), string(), others);
    case 'list': {
      const { items, maxItems } = setting;
      const item = oneof(
        allowedItem(items),
        constantFrom('', ' ', ' https://a.example/x ', 'https://a.example/\t', 'http:', 'no url', 'a:b'),
        constantFrom(items.maxChars, items.maxChars + 1)
          .map((length) => 'https://a.example/'.padEnd(length, 'x'))
          .chain((text) => constantFrom(text, ` ${text} `, `${text.slice(0, 20)}\t${text.slice(20)}`)),
        others,
      );
      return oneof(
        array(item, { maxLength: 5 }),
        array(item, { minLength: maxItems, maxLength: maxItems + 2 }),
        others,
      );
    }
  }
}

const aRow = constantFrom(...POLICY_ROWS);
const withValue = (valueOf: (setting: Setting) => Arbitrary<unknown>) =>
  aRow.chain((row) => valueOf(row.setting).map((value) => ({ row, value })));

describe('a setting of a policy', () => {
  it('every value that the table allows is accepted by the schema and by the check of the workflows', () => {
    const accepted = property(withValue(allowedBy), ({ row, value }) => {
      const patch = patchOf(row, value);
      expect(toldBySchema(patch)).toEqual([]);
      expect(toldByCheck(patch)).toEqual([]);
    });
    expect(() => always(accepted, RUNS)).not.toThrow();
  });

  it('any value is accepted by both or refused by both, at the same path and with the same words', () => {
    const same = property(withValue(nearTo), ({ row, value }) => {
      const patch = patchOf(row, value);
      expect(toldByCheck(patch)).toEqual(toldBySchema(patch));
    });
    expect(() => always(same, { numRuns: 10_000 })).not.toThrow();
  });

  const ranges = POLICY_ROWS.flatMap((row) => ('min' in row.setting ? [{ ...row, setting: row.setting }] : []));
  it.each(ranges)('$path just outside of its range is refused', ({ setting, ...row }) => {
    for (const value of [setting.min - 1, setting.max + 1]) {
      const patch = patchOf({ setting, ...row }, value);
      expect(toldByCheck(patch)).toEqual([expect.stringContaining(`$.policy.${row.path}: expected`)]);
    }
  });
});

describe('a part of a policy', () => {
  const key = oneof(
    constantFrom(...policyKeysAt([]), ...POLICY_ROWS.map(({ keys }) => keys.at(-1) ?? '')),
    string({ maxLength: 12 }).filter((name) => name !== '__proto__'),
  );
  const anyGroup = uniqueArray(key, { maxLength: 4 }).chain((names) =>
    record(Object.fromEntries(names.map((name) => [name, oneof(jsonValue(), integer({ max: 20 }))]))),
  );

  it('any JSON is accepted by both or refused by both, at the same paths and with the same words', () => {
    const anyPatch = uniqueArray(key, { maxLength: 4 }).chain((names) =>
      record(Object.fromEntries(names.map((name) => [name, oneof(anyGroup, jsonValue())]))),
    );
    const same = property(oneof(anyPatch, jsonValue()), (patch) => {
      expect(toldByCheck(patch)).toEqual(toldBySchema(patch));
    });
    expect(() => always(same, RUNS)).not.toThrow();
  });

  it.each([
    [{ budget: { max_step: 3 } }, '$.policy.budget.max_step: unknown key; did you mean max_steps?'],
    [{ budgets: {} }, '$.policy.budgets: unknown key; did you mean budget?'],
    [{ mode: 'enfroce' }, '$.policy.mode: expected one of enforce, guide, observe; did you mean enforce?'],
    [{ budget: { max_steps: -5 } }, '$.policy.budget.max_steps: expected a whole number from 1 to 10000'],
    [{ budget: { max_tokens: 'many' } }, '$.policy.budget.max_tokens: expected a whole number from 0 to 1000000000'],
    [{ budget: 7 }, '$.policy.budget: expected an object'],
    [{ toString: {} }, '$.policy.toString: unknown key'],
    [{ retry: { enhance: 'yes' } }, '$.policy.retry.enhance: expected true or false'],
    [{ loops: { ignore_tools: 'poll' } }, '$.policy.loops.ignore_tools: expected a list of at most 100 texts'],
    [{ humans: { chain: ['ann', ''] } }, '$.policy.humans.chain[1]: expected a text of 1 to 200 characters'],
    [{ humans: { notify: ['here'] } }, '$.policy.humans.notify[0]: expected a URL of at most 2000 characters'],
    [[], '$.policy: expected an object'],
    [null, '$.policy: expected an object'],
  ])('%j is refused with its path', (patch, problem) => {
    expect(toldByCheck(patch)).toEqual([problem]);
    expect(toldBySchema(patch)).toEqual([problem]);
  });

  it('a part without a value counts as left out', () => {
    expect(checkPolicy(undefined)).toEqual([]);
    expect(checkPolicy({ mode: undefined, budget: { max_steps: 3, soft: undefined } })).toEqual([]);
  });
});

describe('the defaults', () => {
  it('the default policy is a whole policy to the schema and to the check', () => {
    expect(policySchema.safeParse(DEFAULT_POLICY).error).toBeUndefined();
    expect(checkPolicy(DEFAULT_POLICY)).toEqual([]);
    expect(isCompletePolicy(DEFAULT_POLICY)).toBe(true);
  });

  it.each(POLICY_ROWS)('a policy without $path, or with an object there, is no whole policy', ({ keys, setting }) => {
    const without = (value: unknown): unknown => {
      const policy = structuredClone(DEFAULT_POLICY) as unknown as Record<string, Record<string, unknown>>;
      const [first = '', second] = keys;
      if (second === undefined) return { ...policy, [first]: value };
      return { ...policy, [first]: { ...policy[first], [second]: value } };
    };
    // Open runs of an earlier release do not have a setting that was added since.
    expect(isCompletePolicy(without(undefined))).toBe('added' in setting);
    expect(isCompletePolicy(without({}))).toBe(false);
  });

  it('a granted budget may be smaller than a person could ask for', () => {
    const budget = { ...DEFAULT_POLICY.budget, max_steps: 0, max_seconds: 0.25 };
    expect(isCompletePolicy({ ...DEFAULT_POLICY, budget })).toBe(true);
    expect(isCompletePolicy({ ...DEFAULT_POLICY, budget: { ...budget, max_steps: -1 } })).toBe(false);
    for (const value of [null, 7, [], {}]) expect(isCompletePolicy(value)).toBe(false);
  });

  it('the types of policies are as precise as the table', () => {
    expectTypeOf<Policy['mode']>().toEqualTypeOf<'enforce' | 'guide' | 'observe'>();
    expectTypeOf<Policy['retry']['enhance']>().toEqualTypeOf<boolean>();
    expectTypeOf<Policy['humans']['chain']>().toEqualTypeOf<string[]>();
    expectTypeOf<Policy['budget']['max_cost_micro_usd']>().toEqualTypeOf<number | null>();
    expectTypeOf<keyof Policy['bias']>().toEqualTypeOf<'repetition_threshold' | 'scope'>();
    expectTypeOf<NonNullable<PolicyPatch['memory']>>().toEqualTypeOf<{
      scope?: 'agent' | 'run' | 'global';
      similarity_threshold?: number;
      holdout?: number;
    }>();
  });
});
