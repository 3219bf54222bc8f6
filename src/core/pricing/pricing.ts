/** What a model call costs. Money is whole micro-USD, rounded up: a budget must never be told too little. */
import type { ModelUsage } from '../../protocol/model.ts';

/** Micro-USD for a million tokens: a price list's "$0.15 / 1M" is 150000. */
export interface ModelPrice {
  input: number;
  output: number;
  /** As `input` when it is not given. */
  cached_input?: number;
}
/** By the name of the model; `*` is for every other. */
export type ModelPrices = Record<string, ModelPrice>;

const PER = 1_000_000n;

/** null when the list has no price for the model, or one that is none: nobody may take it for free. */
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
