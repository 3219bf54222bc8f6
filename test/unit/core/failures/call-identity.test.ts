import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callIdentity } from '../../../../src/core/failures/call-identity.ts';

const identity = (args: unknown, loop_key?: string): string => callIdentity({ tool_name: 'get', args, loop_key });

describe('two calls are the same', () => {
  it('two calls are the same whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        expect(identity(Object.fromEntries(Object.entries(args).reverse()))).toBe(identity(args));
      }),
    );
  });

  it.each([
    ['UUIDs', (n: number) => ({ id: `0b5c1f9e-7a51-4c1d-9c1e-00000000000${n}` })],
    ['times', (n: number) => ({ note: `asked at 2026-01-0${n}T10:00:00Z` })],
    ['times as numbers', (n: number) => ({ since: 1_767_225_600_000 + n })],
    ['hex of 12 or more', (n: number) => ({ token: `abcdef12345${n}` })],
    ['nonces by name', (n: number) => ({ q: 'x', nonce: n, request_id: `r${n}` })],
    ['nonces in addresses', (n: number) => ({ url: `https://example.com/a?_=${n}&q=1` })],
    ['and deep inside', (n: number) => ({ a: [{ b: { idempotency_key: `k${n}` } }] })],
  ])('with other %s', (_name, args) => {
    expect(identity(args(1))).toBe(identity(args(2)));
  });

  it("two calls are the same when the tool's own loop key says so", () => {
    expect(identity({ page: 1 }, 'orders')).toBe(identity({ page: 2 }, 'orders'));
    expect(identity({ page: 1 }, 'orders')).not.toBe(identity({ page: 1 }, 'customers'));
  });
});

describe('two calls are different', () => {
  it.each([
    ['short numbers', { page: 1 }, { page: 2 }],
    ['names', { name: 'anna' }, { name: 'berta' }],
    ['paths', { path: '/a/x.ts' }, { path: '/b/x.ts' }],
    ['lines of a file', { path: 'x.ts', offset: 100 }, { path: 'x.ts', offset: 200 }],
    ['dates', { day: '2026-01-01' }, { day: '2026-01-02' }],
    ['article numbers', { ean: '4006381333931' }, { ean: '4006381333948' }],
    ['order numbers', { order: 1_734_567_890 }, { order: 1_734_567_891 }],
    ['flags', { ts: true }, { ts: false }],
    ['types', { id: 1 }, { id: '1' }],
    ['long texts', { text: `${'a'.repeat(40_000)}1` }, { text: `${'a'.repeat(40_000)}2` }],
  ])('with other %s', (_name, one, other) => {
    expect(identity(one)).not.toBe(identity(other));
  });

  it('two calls with different tools are different', () => {
    expect(callIdentity({ tool_name: 'a', args: {} })).not.toBe(callIdentity({ tool_name: 'b', args: {} }));
  });
});

describe('arguments that are no good JSON', () => {
  const deep = (depth: number): unknown => Array.from({ length: depth }).reduce((inner) => [inner], null);
  it.each([
    ['nothing', undefined],
    ['infinity, which JSON.parse makes of 1e999', { n: Infinity, m: Number.NaN }],
    ['ten thousand levels', deep(10_000)],
    ['a member named toJSON', { toJSON: 1 }],
    ['a member named __proto__', JSON.parse('{"__proto__": {"a": 1}}')],
    ['half a character', { text: '\ud800' }],
  ])('have an identity too: %s', (_name, args) => {
    expect(identity(args)).toMatch(/^[0-9a-f]{24}$/);
  });
});
