import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceOf } from '../../../../src/core/pricing/pricing.ts';

const prices = {
  small: { input: 150_000, output: 600_000, cached_input: 75_000 },
  '*': { input: 3_000_000, output: 15_000_000 },
};

describe('the price of a model call', () => {
  it.each([
    ['small', { input_tokens: 1_000_000, output_tokens: 0 }, 150_000],
    ['small', { input_tokens: 1_000_000, output_tokens: 1_000_000 }, 750_000],
    ['small', { input_tokens: 1_000_000, output_tokens: 0, cached_input_tokens: 1_000_000 }, 75_000],
    ['small', { input_tokens: 1, output_tokens: 0 }, 1],
    ['small', { input_tokens: 0, output_tokens: 0 }, 0],
    ['another', { input_tokens: 1_000, output_tokens: 100 }, 4_500],
  ])('of %s for %j is %i micro-USD', (model, usage, expected) => {
    expect(priceOf(model, usage, prices)).toBe(expected);
  });

  it('is unknown, not zero, for a model without a price or with one that is none', () => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    expect(priceOf('x', usage, {})).toBeNull();
    expect(priceOf('toString', usage, {})).toBeNull();
    expect(priceOf('x', usage, { x: { input: -1, output: 1 } })).toBeNull();
    expect(priceOf('x', usage, { x: { input: 0.5, output: 1 } })).toBeNull();
  });

  it('is never below what was used, and at most one micro-USD above', () => {
    const count = fc.nat(2 ** 31 - 1);
    fc.assert(
      fc.property(count, count, count, count, (input_tokens, output_tokens, input, output) => {
        const price = priceOf('m', { input_tokens, output_tokens }, { m: { input, output } }) ?? -1;
        const exact = BigInt(input_tokens) * BigInt(input) + BigInt(output_tokens) * BigInt(output);
        const over = BigInt(price) * 1_000_000n - exact;
        expect(over >= 0n && over < 1_000_000n).toBe(true);
      }),
    );
  });
});
