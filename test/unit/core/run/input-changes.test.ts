/** What a person changed in an input, as a list and in words. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { previewChanges } from '../../../../src/core/redaction/preview-changes.ts';
import { createRedactor } from '../../../../src/core/redaction/redact.ts';
import { describeChanges, listChanges } from '../../../../src/core/run/input-changes.ts';
import type { Json } from '../../../../src/protocol/json.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

describe('changes of an input', () => {
  it.each<[Json, Json, string]>([
    [{ amount: 500 }, { amount: 50 }, '$.amount from 500 to 50'],
    [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, '$.a.b[1] from 2 to 3'],
    [{ a: [1] }, { a: [1, 2] }, '$.a from [1] to [1,2]'],
    [{ a: 1 }, { a: 1, note: 'x' }, '$.note added as "x"'],
    [{ a: 1, b: null }, { a: 1 }, '$.b removed'],
    [{ password: 'old-one' }, { password: 'new-one' }, '$.password (a secret)'],
    ['all', 'one', '$ from "all" to "one"'],
  ])('from %j to %j: %s', (from, to, words) => {
    expect(describeChanges(listChanges(from, to))).toBe(words);
  });

  it('are none exactly if nothing was changed, whatever the input is', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        expect(listChanges(from, from)).toEqual([]);
        expect(listChanges(from, to).length > 0).toBe(JSON.stringify(sorted(from)) !== JSON.stringify(sorted(to)));
      }),
    );
  });

  it('stay small, however much was changed', () => {
    const large = (mark: string): Json =>
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, mark.repeat(5_000)]));
    const changes = listChanges(large('a'), large('b'));
    expect(changes).toHaveLength(10);
    expect(changes.at(-1)).toEqual({ path: '$', to: '… 91 more changes' });
    expect(JSON.stringify(changes).length).toBeLessThan(5_000);
  });

  it('are redacted beside the name of their member, as the input itself is', () => {
    const [change] = previewChanges(
      listChanges({ password: 'hunter-22' }, { password: 'hunter-23' }),
      createRedactor(),
    );
    expect(JSON.stringify(change)).not.toContain('hunter');
    expect(change?.path).toBe('$.password');
  });
});

/** The order of keys is not a change. */
function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] as Json)]),
  );
}
