import { mergePolicy } from '../../../core/policy/merge-policy.ts';
import type { Json } from '../../../protocol/json.ts';
import type { RunRequest } from '../../../protocol/run.ts';
import type { Plan } from '../../../protocol/schemas/plan.ts';
import type { Policy, PolicyPatch } from '../../../protocol/schemas/policy.ts';
import { type Dice, diceOf } from './dice.ts';
import { drawPolicy } from './draw-policy.ts';
import { ASK_HELPER, HOSTILE_TOOLS } from './tool-table.ts';

/** What kind of trouble each part of the world makes. `relentless` ones together drive a run to its bound. */
export interface Character {
  tools: 'kind' | 'any' | 'relentless';
  /** The share of attempts that fail, where tools do `any`thing. */
  badness: number;
  planner: 'any' | 'endless' | 'stubborn' | 'quitter';
  spends: 'nothing' | 'evenly' | 'any' | 'beyond';
  reviewer: 'any' | 'harsh' | 'improving' | 'biased' | 'fair' | 'broken';
  people: 'any' | 'relentless' | 'silent';
  /** Calls take no time, so that all time that passes is waiting. */
  instant: boolean;
  /** People who say anything say it as soon as they are asked, and at no other time: no clock decides what happens. */
  timely: boolean;
  /** Workers are lost on the way, which no tool can bring about by itself. */
  deploys: boolean;
  /** Has another agent do some of its steps. */
  asks: boolean;
}

/** One hostile run: all of it follows from its seed, and from a policy where one is given. */
export interface Scene {
  seed: number;
  policy: Policy;
  character: Character;
  request: RunRequest;
}

/** Each part of the world throws its own dice, so that changing one leaves the others as they were. */
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
  const patch = given ?? drawPolicy(diceOf(seed, DICE.policy));
  const policy = mergePolicy(patch);
  const drawn = drawCharacter(diceOf(seed, DICE.character));
  // Only where calls take no time: all that passes inside of a helper is then waiting too.
  const character = { ...drawn, asks: drawn.instant && diceOf(seed, DICE.helpers).chance(0.1) };
  const dice = diceOf(seed, DICE.plan);
  const chooses = dice.chance(0.4);
  const agent = `hostile${chooses ? '.chooser' : ''}${dice.chance(0.7) ? '.judged' : ''}`;
  const plan = chooses ? {} : { plan: drawPlan(seed, dice, character) };
  return { seed, policy, character, request: { agent, goal: goalOf(seed), input: { seed }, policy: patch, ...plan } };
}

/** A reviewer is told the goal and not the input, so the goal says whose run it is. */
const goalOf = (seed: number): string => `survive ${seed}`;
/** Who is asked by another is told more than a goal, so its seed is its input. */
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

/** Mostly short, sometimes with steps side by side. A relentless world leaves out what needs leave to run. */
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

/** Now and then another agent is asked instead, whose own trouble follows from a seed of its own. */
export function withHelper<T extends { tool: string; input: { seed: number; n: number } }>(
  seed: number,
  n: number,
  asks: boolean,
  call: T,
): T | { tool: string; input: { goal: string; input: { seed: number } } } {
  if (!asks || !diceOf(seed, DICE.helpers, n).chance(0.4)) return call;
  const helped = 1_000_000_000 + seed * 16 + n;
  return { tool: ASK_HELPER, input: { goal: goalOf(helped), input: { seed: helped } } };
}
