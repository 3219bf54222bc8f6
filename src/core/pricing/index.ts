/** What a model call costs. Money is whole micro-USD, rounded up: a budget must never be told too little. */
import type { ModelUsage } from '../../protocol/model.ts';
import type { RequestProblem } from '../../protocol/run.ts';

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

/** What is wrong with a price list, with a word on what to write; nothing when every price can be counted with. */
export function problemsOfPrices(prices: ModelPrices): RequestProblem[] {
  return Object.entries(prices).flatMap(([model, price]) => {
    const { input, output, cached_input = 0 } = (price ?? {}) as Partial<ModelPrice>;
    return Object.entries({ input, output, cached_input })
      .filter(([, each]) => !isCount(each as number))
      .map(([kind, each]) => ({ path: `$.prices.${model}.${kind}`, message: wordsAbout(each) }));
  });
}

function wordsAbout(price: unknown): string {
  const unit = 'prices are whole micro-USD for a million tokens, 0 or more';
  // The likely slip: dollars, as price lists show them.
  const isDollars = typeof price === 'number' && price > 0 && isCount(Math.round(price * 1_000_000));
  const meant = isDollars ? `: "$${price} / 1M" is ${Math.round(price * 1_000_000)}` : '';
  return `${String(price)} is no price; ${unit}${meant}`;
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
