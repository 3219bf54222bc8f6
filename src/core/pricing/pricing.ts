/**
 * Computes what a model call costs. Money is in whole micro-USD, rounded up, so that a budget is never charged too
 * little.
 */
import type { ModelUsage } from '../../protocol/model.ts';

/** Micro-USD per million tokens: "$0.15 / 1M" on a price list is 150000. */
export interface ModelPrice {
  input: number;
  output: number;
  /** Default: the price of `input`. */
  cached_input?: number;
}
/** Prices by model name. `*` applies to every other model. */
export type ModelPrices = Record<string, ModelPrice>;

const PER = 1_000_000n;

/** The cost of a call, or null if there is no valid price for the model. Null must not be treated as free. */
export function priceOf(model: string, usage: ModelUsage, prices: ModelPrices): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : prices['*'];
  if (price === undefined) return null;
  const cached = Math.min(usage.cached_input_tokens ?? 0, usage.input_tokens);
  const parts = [
    [usage.input_tokens - cached, price.input],
    [cached, price.cached_input ?? price.input],
    [usage.output_tokens, price.output],
  ] as const;
  if (!parts.every(([tokens, each]) => isCount(tokens) && isCount(each))) return null;
  const total = parts.reduce((sum, [tokens, each]) => sum + BigInt(tokens) * BigInt(each), 0n);
  return Number((total + PER - 1n) / PER);
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
