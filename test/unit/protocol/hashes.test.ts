/** Canonical JSON and SHA-256, compared with a general library and with Node. Stored ids depend on every byte of them. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { canonicalize } from 'json-canonicalize';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '../../../src/protocol/ids.ts';

describe('canonical JSON', () => {
  it('is the text that the library writes, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
    );
  });

  it('writes the numbers, texts and keys of RFC 8785', () => {
    const numbers = [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0];
    expect(canonicalJson({ numbers })).toBe('{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0]}');
    expect(canonicalJson('\u20ac$\u000f\nA\'B"\\"/')).toBe('"€$\\u000f\\nA\'B\\"\\\\\\"/"');
    const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect(Object.values(JSON.parse(canonicalJson(keys)) as object)).toEqual([4, 2, 6, 7, 1, 5, 3]);
  });

  it('drops undefined members, and writes undefined items and nothing at all as null', () => {
    expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}');
    expect(canonicalJson(undefined)).toBe('null');
  });

  it('asks a value that has a JSON form of its own', () => {
    expect(canonicalJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  });

  it('writes an object that is there twice, and refuses one that contains itself', () => {
    const twice = { x: 1 };
    expect(canonicalJson({ a: twice, ab: twice })).toBe('{"a":{"x":1},"ab":{"x":1}}');
    const loop: Record<string, unknown> = {};
    loop['loop'] = [loop];
    expect(() => canonicalJson(loop)).toThrow('contains itself');
  });

  it('refuses a number that is not finite', () => {
    expect(() => canonicalJson([Number.NaN])).toThrow('NaN');
  });
});

describe('SHA-256', () => {
  const byNode = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

  it('is the hash that Node computes, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(sha256Hex(text)).toBe(byNode(text));
      }),
    );
  });

  it.each([0, 55, 56, 63, 64, 65, 2_730, 2_731, 8_192, 100_000])('is right for %i characters', (length) => {
    for (const text of ['a'.repeat(length), '€'.repeat(length)]) expect(sha256Hex(text)).toBe(byNode(text));
  });
});
