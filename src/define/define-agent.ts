import type { ReviewReport } from '../core/guardrails/loop-report.ts';
import type { Redact } from '../core/redaction/redact.ts';
import type { PlannerChoice, PlannerView, ReviewUse, ReviewView } from '../core/run/ports.ts';
import type { z } from 'zod';
import type { ModelPrices } from '../core/pricing/pricing.ts';
import type { ModelSource } from './model-source.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { largestWaitPerCall } from '../core/retry/backoff.ts';
import type { Json } from '../protocol/json.ts';
import type { Helpers } from '../protocol/run.ts';
import type { Plan } from '../protocol/schemas/plan.ts';
import type { PolicyPatch } from '../protocol/schemas/policy.ts';
import type { ToolManifest } from '../protocol/tools.ts';
import { problemsOfAgent } from './check-agent.ts';
import type { Tool } from './define-tool.ts';

/** What a planner decides: calls to run now, in parallel when there are several; none ends the loop. */
export type Choice = Pick<PlannerChoice, 'calls'> & {
  message?: string;
  output?: Json;
  /** No call now, and not done either: another turn, please. */
  more?: boolean;
  /** What the turn used, where it asked a model: the run's budgets count them. */
  tokens?: number;
  cost_micro_usd?: number;
};

/** A planner that chooses. It runs in an activity, never inside the workflow. */
export interface Planner {
  choose(view: PlannerView): Promise<Choice> | Choice;
}

/** What a reviewer judges. */
export interface ReviewOf<Output = unknown> extends Omit<ReviewView, 'output'> {
  /** As the agent's schema has it; null when a pass ended with something else. Without a schema it is what there is. */
  output: Output | null;
  /** What there is, whether it fits or not. */
  raw_output: Json;
}

/** Judges a finished loop: how well it meets the goal (alignment) and how far it strayed (drift), each from 0 to 1. */
export type Reviewer<Output = unknown> = {
  // As of a method: agents of many outputs stand in one list, and each reviewer gets only its own agent's.
  own(view: ReviewOf<Output>, context: ReviewContext): Promise<ReviewReport> | ReviewReport;
}['own'] & {
  /** Set by a reviewer that asks a model, so that the run's bound has room for it; with prices it can be held to a cost. */
  asksModel?: 'priced' | 'unpriced';
};
/** What a reviewer gets beside what it judges. */
export interface ReviewContext {
  /** Whose work it is. */
  agent: Agent;
  signal: AbortSignal;
  redact: Redact;
  now: () => number;
  environment: Record<string, string | undefined>;
  /** Adds to what the run has used, also when the review then fails; less than was said before is a negative amount. */
  spend(use: Required<ReviewUse>): void;
}

export interface AgentDefinition<Output = unknown> {
  name: string;
  /** What a model is told it is and does; with them the agent thinks, and needs neither plan nor planner. */
  instructions?: string;
  /** A model object of the AI SDK, an endpoint, or a name at the endpoint of the environment; else `MODEL` names it. */
  model?: ModelSource | string;
  /** What the model's final answer must be; without it the answer is its words. */
  output?: z.ZodType<Output>;
  /** The longest answer of one turn. */
  maxOutputTokens?: number;
  /** What tokens cost, by model; a cost budget needs them. */
  prices?: ModelPrices;
  tools: Tool[];
  /** What to do when a run brings no plan of its own. */
  plan?: Plan;
  planner?: Planner;
  /** Without one the rules judge: the share of steps that succeeded. */
  review?: Reviewer<NoInfer<Output>>;
  policy?: PolicyPatch;
  /** Values that it holds and that belong in no record: they are taken out of everything that the worker writes. */
  secrets?: readonly string[];
}
export type Agent<Output = unknown> = AgentDefinition<Output>;

/** A model decides what this agent does next. */
export const thinks = (agent: Agent): boolean => agent.instructions !== undefined;

/** The model's name as far as it is known where runs are prepared; the worker may know better. */
export function modelNameOf({ model }: Agent): string {
  if (typeof model === 'string') return model;
  if (model === undefined) return 'default';
  return 'base_url' in model ? model.model : model.modelId;
}

export const manifestOf = (agent: Agent): ToolManifest =>
  Object.fromEntries(agent.tools.map((tool) => [tool.name, tool.manifest]));

/** Every agent that may work in a run of this one, however far down; with a plan only those that the plan asks. */
export function helpersIn(agent: Agent, plan: Plan | null): Agent[] {
  const asked = plan === null ? agent.tools : agent.tools.filter((tool) => usedIn(plan, tool));
  const found = new Set<Agent>();
  const look = (tools: Tool[]): void => {
    for (const { agent: helper } of tools) {
      if (helper === undefined || found.has(helper)) continue;
      found.add(helper);
      look(helper.tools);
    }
  };
  look(asked);
  return [...found];
}

const usedIn = (plan: Plan, { name }: Tool): boolean => plan.steps.some((step) => step.tool === name);

export const asksModel = (agent: Agent): boolean => thinks(agent) || agent.review?.asksModel !== undefined;

/** What a bound has to know of them; undefined when there are none. */
export function helpersOf(helpers: Agent[]): Helpers | undefined {
  if (helpers.length === 0) return undefined;
  return {
    asks_model: helpers.some((helper) => asksModel(helper) || helper.planner !== undefined),
    wait_per_call_ms: Math.max(...helpers.map(({ policy }) => largestWaitPerCall(mergePolicy(policy).retry))),
  };
}

/**
 * What the agent hands back is typed by its `output`; without one it is any JSON. A definition that cannot be meant is refused
 * here, in its author's process, with everything that is wrong with it.
 */
export function defineAgent<Output = Json>(definition: AgentDefinition<Output>): Agent<Output> {
  const problems = problemsOfAgent(definition);
  if (problems.length > 0) {
    const name = typeof definition?.name === 'string' ? definition.name.slice(0, 80) : '';
    const told = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new TypeError(`The agent ${name === '' ? '(without a name)' : name} is refused: ${told}`);
  }
  return { ...definition, [MADE_HERE]: true } as Agent<Output>;
}

/** By a mark, since much has a name and tools; the same in every copy of this package, as a folder may bring its own. */
const MADE_HERE = Symbol.for('secondwind.agent');
export const isAgent = (value: unknown): value is Agent =>
  typeof value === 'object' && value !== null && MADE_HERE in value;
