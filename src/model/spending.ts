import { type ModelPrices, priceOf } from '../core/pricing/pricing.ts';
import type { ModelAnswer, ModelFailed, ModelUsage } from '../protocol/model.ts';
import { type CountedInput, mostInputTokens } from './input-tokens.ts';
import type { ModelRequest } from './request.ts';

const DEFAULT_OUTPUT_TOKENS = 4_096;
/** If fewer tokens are left for an answer, the request is not sent. */
const LEAST_OUTPUT_TOKENS = 16;

/** The limits of a caller: how long an answer may be, and what tokens cost. */
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

/** Why a request is not sent: the budget is too small, or the cost cannot be computed. */
export interface NoRoom {
  budget: 'tokens' | 'cost_micro_usd' | null;
  why: string;
}

/** Reserves the most that one request can use, which must fit into the rest of the budget. */
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
  const cost = computeCost(spender, model, { input_tokens, output_tokens: max_output_tokens });
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

/** Without a price, a limit on the cost cannot be enforced. */
const unpriced = (model: string): NoRoom => ({
  budget: null,
  why: `the cost is capped and ${model} has no price: add it to the agent's prices, or '*' for every other model`,
});

const computeCost = ({ prices }: Spender, model: string, usage: ModelUsage): number | null =>
  prices === undefined ? null : priceOf(model, usage, prices);

/** Returns the real usage if it is known, otherwise the reserved one. */
export function settleUse(
  spender: Spender,
  model: string,
  outcome: ModelAnswer | ModelFailed,
  reserved: Reservation,
): Use {
  const { usage } = outcome;
  if (usage === null) return { tokens: reserved.tokens, cost_micro_usd: reserved.cost_micro_usd };
  const tokens = usage.input_tokens + usage.output_tokens;
  return { tokens, cost_micro_usd: computeCost(spender, model, usage) ?? 0 };
}
