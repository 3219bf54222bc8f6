import { mergePolicy } from '../../../core/policy/merge-policy.ts';
import type { Json } from '../../../protocol/json.ts';
import type { RunRequest } from '../../../protocol/run.ts';
import type { Plan } from '../../../protocol/schemas/plan.ts';
import type { Policy, PolicyPatch } from '../../../protocol/schemas/policy.ts';
import { type Dice, createDice } from './dice.ts';
import { drawPolicy } from './draw-policy.ts';
import { ASK_HELPER, HOSTILE_TOOLS } from './tool-table.ts';

/** How each part of the world behaves. If several are `relentless`, the run reaches its limit. */
export interface Character {
  tools: 'kind' | 'any' | 'relentless';
  /** The share of attempts that fail if tools are `any`. */
  badness: number;
  planner: 'any' | 'endless' | 'stubborn' | 'quitter';
  spends: 'nothing' | 'evenly' | 'any' | 'beyond';
  reviewer: 'any' | 'harsh' | 'improving' | 'biased' | 'fair' | 'broken';
  people: 'any' | 'relentless' | 'silent';
  /** Calls take no time, so that all elapsed time is waiting. */
  instant: boolean;
  /** People react only at once when they are asked, so that no clock affects the result. */
  timely: boolean;
  /** Workers are lost during calls. A tool cannot cause this by itself. */
  deploys: boolean;
  /** Uses another agent for some of its steps. */
  asks: boolean;
}

/** One hostile run. Everything follows from its seed, and from the policy if one is given. */
export interface Scene {
  seed: number;
  policy: Policy;
  character: Character;
  request: RunRequest;
}

/** Each part of the world has its own dice, so that changing one does not affect the others. */
export const DICE = {
  policy: 1,
  character: 2,
  plan: 3,
  tool: 4,
  planner: 5,
  reviewer: 6,
  people: 7,
  store: 8,
  helpers: 9,
} as const;

export function drawScene(seed: number, given?: PolicyPatch): Scene {
  const patch = given ?? drawPolicy(createDice(seed, DICE.policy));
  const policy = mergePolicy(patch);
  const drawn = drawCharacter(createDice(seed, DICE.character));
  // Only if calls take no time, so that the time inside a helper is all waiting too.
  const character = { ...drawn, asks: drawn.instant && createDice(seed, DICE.helpers).chance(0.1) };
  const dice = createDice(seed, DICE.plan);
  const chooses = dice.chance(0.4);
  const agent = `hostile${chooses ? '.chooser' : ''}${dice.chance(0.7) ? '.judged' : ''}`;
  const plan = chooses ? {} : { plan: drawPlan(seed, dice, character) };
  return { seed, policy, character, request: { agent, goal: goalOf(seed), input: { seed }, policy: patch, ...plan } };
}

/** A reviewer sees the goal but not the input, so the goal contains the seed. */
const goalOf = (seed: number): string => `survive ${seed}`;
/** A helper's goal has more text than the seed, so its seed is in its input. */
export const seedOfInput = (given: Json): number => {
  const { seed } = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
  return typeof seed === 'number' ? seed : 0;
};
export const seedOfGoal = (goal: string): number => Number(goal.split(' ').at(-1));

function drawCharacter(dice: Dice): Omit<Character, 'asks'> {
  const instant = dice.chance(0.6);
  const badness = dice.share();
  if (dice.chance(0.15)) {
    return {
      tools: 'relentless',
      badness,
      planner: dice.pick(['endless', 'stubborn', 'quitter'] as const),
      spends: 'evenly',
      reviewer: dice.pick(['harsh', 'improving'] as const),
      people: 'relentless',
      instant: true,
      timely: false,
      deploys: true,
    };
  }
  return {
    tools: dice.pick(['kind', 'kind', 'any', 'any', 'any', 'relentless'] as const),
    badness,
    planner: dice.pick(['any', 'any', 'endless', 'quitter'] as const),
    spends: dice.pick(['nothing', 'evenly', 'any', 'any', 'beyond'] as const),
    reviewer: dice.pick(['any', 'any', 'harsh', 'improving', 'biased', 'fair', 'broken'] as const),
    people: dice.pick(['any', 'any', 'any', 'relentless', 'silent'] as const),
    instant,
    timely: false,
    deploys: true,
  };
}

/**
 * Draws a plan, usually short, sometimes with parallel steps. A relentless world leaves out tools that need approval.
 */
function drawPlan(seed: number, dice: Dice, { tools, asks }: Character): Plan {
  const length = dice.chance(0.9) ? dice.int(1, 3) : dice.int(4, 12);
  const beside = dice.chance(0.5) ? 0 : dice.share();
  const usable = HOSTILE_TOOLS.filter((tool) => tools !== 'relentless' || !tool.approval);
  const steps = Array.from({ length }, (_, n) => ({
    phase: 'p',
    ...withHelper(seed, n, asks, { tool: dice.pick(usable).name, input: { seed, n } }),
    ...(dice.chance(beside) && { after: [] }),
  }));
  return { steps };
}

/** Sometimes replaces a call with a helper agent, which gets a seed of its own. */
export function withHelper<T extends { tool: string; input: { seed: number; n: number } }>(
  seed: number,
  n: number,
  asks: boolean,
  call: T,
): T | { tool: string; input: { goal: string; input: { seed: number } } } {
  if (!asks || !createDice(seed, DICE.helpers, n).chance(0.4)) return call;
  const helped = HELPERS + seed * 16 + n;
  return { tool: ASK_HELPER, input: { goal: goalOf(helped), input: { seed: helped } } };
}

const HELPERS = 1_000_000_000;
/** The seed of the run that a helper works for; for any other run its own. */
export const askedBy = (seed: number): number => (seed < HELPERS ? seed : Math.floor((seed - HELPERS) / 16));
