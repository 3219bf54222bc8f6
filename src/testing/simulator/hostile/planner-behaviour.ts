import { rerunDepth } from '../../../core/guardrails/loop-ids.ts';
import { TOOL_CATEGORIES } from '../../../core/retry/strategies.ts';
import { FAILURE_CATEGORIES } from '../../../protocol/failure-categories.ts';
import type { ChosenCall, PlannerView } from '../../../core/run/ports.ts';
import { type Dice, createDice } from './dice.ts';
import { askedBy, DICE, type Scene, withHelper } from './scene.ts';
import { type Failing, failUntilLast } from './tool-behaviour.ts';
import { HOSTILE_TOOLS } from './tool-table.ts';

export type PlannerTurn =
  | Failing
  | { kind: 'chose'; calls: ChosenCall[]; more?: boolean; message?: string; tokens: number; cost_micro_usd: number };

/** Draws the behaviour of a planner in one turn. It depends only on seed, loop, turn and attempt. */
export function drawTurn(scene: Scene, view: Pick<PlannerView, 'loop_id' | 'turn' | 'attempt'>): PlannerTurn {
  const { planner, badness, tools, deploys } = scene.character;
  const dice = createDice(scene.seed, DICE.planner, rerunDepth(view.loop_id), view.turn, view.attempt);
  const spent = spentBy(scene, dice);
  if (planner === 'quitter' && view.turn > 1) return { kind: 'chose', calls: [], ...spent };
  // Infinity, because the planner must not use up questions that the tools need.
  const again = planner === 'stubborn' ? failUntilLast(scene, Infinity, view.attempt) : null;
  if (again !== null) return again;
  if (planner === 'any' && dice.share() < badness / 2) {
    const category = dice.pick(deploys ? FAILURE_CATEGORIES : TOOL_CATEGORIES);
    return { kind: 'fail', category, certainty: 'failed', code: category.toUpperCase(), message: 'no idea' };
  }
  // Either text without a call, often repeated, or the same call many times at once.
  if (planner === 'any' && dice.chance(0.08)) {
    return { kind: 'chose', calls: [], more: true, message: `thinking ${dice.int(1, 2)}`, ...spent };
  }
  if (planner === 'any' && dice.chance(0.08)) {
    const call = { tool: dice.pick(HOSTILE_TOOLS).name, input: { seed: scene.seed, n: 1 } };
    return { kind: 'chose', calls: Array.from({ length: dice.int(4, 12) }, () => call), ...spent };
  }
  const isInvalid = planner === 'any' && dice.chance(0.05);
  const wanted = planner === 'any' && dice.chance(0.1) ? 0 : dice.int(1, isInvalid ? 20 : 5);
  const usable = HOSTILE_TOOLS.filter((tool) => tools !== 'relentless' || !tool.approval);
  const calls = Array.from({ length: wanted }, () => {
    const tool = isInvalid ? 'no.such.tool' : dice.pick(usable).name;
    const n = dice.int(1, 2);
    // A helper may want what the run that it works for wants too.
    const seed = dice.chance(0.5) ? askedBy(scene.seed) : scene.seed;
    return withHelper(scene.seed, n + view.turn, scene.character.asks, { tool, input: { seed, n } });
  });
  return { kind: 'chose', calls, ...spent };
}

/** A planner does not see the budget, so one that is meant to use all of it spends a share per turn. */
function spentBy({ character, policy }: Scene, dice: Dice): { tokens: number; cost_micro_usd: number } {
  const { max_model_calls: calls, max_tokens: tokens, max_cost_micro_usd: cost } = policy.budget;
  const share = { nothing: 0, evenly: 1 / Math.max(1, calls), any: dice.share() / 3, beyond: 2 * dice.share() };
  // An invalid amount: it is refused and nothing is charged.
  if (character.spends === 'any' && dice.chance(0.02)) return { tokens: -1, cost_micro_usd: 0.5 };
  const part = (of: number): number => Math.floor(of * share[character.spends]);
  return { tokens: part(tokens), cost_micro_usd: part(cost ?? 1_000) };
}
