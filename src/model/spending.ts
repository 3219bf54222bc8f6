import { type ModelPrices, priceOf } from '../core/pricing/pricing.ts';
import type { ModelAnswer, ModelFailed, ModelUsage } from '../protocol/model.ts';
import { type CountedInput, mostInputTokens } from './input-tokens.ts';
import type { ModelRequest } from './request.ts';

const DEFAULT_OUTPUT_TOKENS = 4_096;
/** Less room than this for an answer is no room. */
const LEAST_OUTPUT_TOKENS = 16;

/** Who asks: how long an answer may be, and what tokens cost. */
export interface Spender {
  maxOutputTokens?: number;
  prices?: ModelPrices;
}
export interface Use {
  tokens: number;
  cost_micro_usd: number;
}
export interface Reservation extends Use {
  max_output_tokens: number;
}

/** Why nothing is sent: a budget that does not hold it, or a cost that nobody could count. */
export interface NoRoom {
  budget: 'tokens' | 'cost_micro_usd' | null;
  why: string;
}

/** The worst that one question can take, which must fit into what is left. */
export function reserve(
  spender: Spender,
  model: string,
  left: { tokens: number; cost_micro_usd: number | null },
  request: Pick<ModelRequest, 'instructions' | 'messages' | 'tools' | 'output_schema'>,
  counted: CountedInput | null = null,
): Reservation | NoRoom {
  const input_tokens = mostInputTokens(request, model, counted);
  const wanted = spender.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS;
  const max_output_tokens = Math.min(wanted, left.tokens - input_tokens);
  if (max_output_tokens < LEAST_OUTPUT_TOKENS) return noRoom('tokens');
  const cost = costOf(spender, model, { input_tokens, output_tokens: max_output_tokens });
  if (left.cost_micro_usd !== null) {
    if (cost === null) return unpriced(model);
    if (cost > left.cost_micro_usd) return noRoom('cost_micro_usd');
  }
  return { max_output_tokens, tokens: input_tokens + max_output_tokens, cost_micro_usd: cost ?? 0 };
}

const noRoom = (budget: 'tokens' | 'cost_micro_usd'): NoRoom => ({
  budget,
  why: `the budget leaves no room for it (${budget})`,
});

/** Nobody may take it for free: without a price a cap on the cost would hold nothing. */
const unpriced = (model: string): NoRoom => ({
  budget: null,
  why: `the cost is capped and ${model} has no price: add it to the agent's prices, or '*' for every other model`,
});

const costOf = ({ prices }: Spender, model: string, usage: ModelUsage): number | null =>
  prices === undefined ? null : priceOf(model, usage, prices);

/** What was used, where anybody knows; else the reservation stays. */
export function useOf(spender: Spender, model: string, outcome: ModelAnswer | ModelFailed, reserved: Reservation): Use {
  const { usage } = outcome;
  if (usage === null) return { tokens: reserved.tokens, cost_micro_usd: reserved.cost_micro_usd };
  const tokens = usage.input_tokens + usage.output_tokens;
  return { tokens, cost_micro_usd: costOf(spender, model, usage) ?? 0 };
}
