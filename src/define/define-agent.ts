import type { ReviewReport } from '../core/guardrails/loop-report.ts';
import type { Redact } from '../core/redaction/redact.ts';
import type { PlannerChoice, PlannerView, ReviewUse, ReviewView } from '../core/run/ports.ts';
import type { z } from 'zod';
import type { ModelPrices } from '../core/pricing/pricing.ts';
import type { ModelSource } from './model-source.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { maxWaitPerCall } from '../core/retry/backoff.ts';
import type { Json } from '../protocol/json.ts';
import type { Helpers } from '../protocol/run.ts';
import type { Plan } from '../protocol/schemas/plan.ts';
import type { PolicyPatch } from '../protocol/schemas/policy.ts';
import type { ToolManifest } from '../protocol/tools.ts';
import { checkAgent } from './check-agent.ts';
import type { Tool } from './define-tool.ts';

/** The decision of one planner turn: the tool calls to run now, in parallel. A turn without calls ends the pass. */
export type Choice = Pick<PlannerChoice, 'calls'> & {
  /** A sentence for people, shown with the turn. */
  message?: string;
  /** The final output of the run, when this turn ends it. */
  output?: Json;
  /** Set to true to get another turn although this one makes no call. */
  more?: boolean;
  /** The tokens that the turn used, if it asked a model. The run's budgets count them. */
  tokens?: number;
  /** The cost of those tokens, in millionths of a US dollar. */
  cost_micro_usd?: number;
};

/** Chooses the next tool calls of a run. It runs in an activity, so it may do I/O. */
export interface Planner {
  /** Returns the next calls for the state of the run that `view` describes. */
  choose(view: PlannerView): Promise<Choice> | Choice;
}

/** The finished pass that a reviewer judges. */
export interface ReviewOf<Output = unknown> extends Omit<ReviewView, 'output'> {
  /** The output, parsed with the agent's `output` schema; null if it does not match. Without a schema it equals `raw_output`. */
  output: Output | null;
  /** The output as the pass returned it, not checked against a schema. */
  raw_output: Json;
}

/**
 * Judges a finished pass: how well it meets the goal (`alignment_score`) and how far it strayed from it (`drift_score`), each from
 * 0 to 1. It runs in an activity.
 */
export type Reviewer<Output = unknown> = {
  // Declared as a method, because method parameters are bivariant: agents with different outputs then fit into one list.
  own(view: ReviewOf<Output>, context: ReviewContext): Promise<ReviewReport> | ReviewReport;
}['own'] & {
  /**
   * Set by a reviewer that asks a model, so that the limit of the run includes its model calls. A cost budget needs a reviewer that
   * knows its prices (`priced`).
   */
  asksModel?: 'priced' | 'unpriced';
};
/** The second argument of a reviewer. */
export interface ReviewContext {
  /** The agent whose pass is reviewed. */
  agent: Agent;
  /** Aborted on cancel, on timeout, and when the worker shuts down. */
  signal: AbortSignal;
  /** Removes secrets from a text that people read. */
  redact: Redact;
  /** Removes the values of known secrets from a text that a model is sent. */
  maskKnown?: Redact;
  /** The current time, in milliseconds since 1970. */
  now: () => number;
  /** The environment variables of the worker. */
  environment: Record<string, string | undefined>;
  /** Counts usage against the run's budgets, even if the review fails later. A negative amount corrects an earlier estimate. */
  spend(use: Required<ReviewUse>): void;
}

/** The argument of `defineAgent`. */
export interface AgentDefinition<Output = unknown> {
  /** The name that runs start it by: a letter or digit, then letters, digits and `. _ : -`, at most 128 characters. */
  name: string;
  /** The system prompt of a model that chooses the tool calls. An agent with instructions needs neither plan nor planner. */
  instructions?: string;
  /**
   * A model object of the AI SDK, an endpoint, or the name of a model at the endpoint that the environment configures.
   * Default: the environment variable `MODEL`.
   */
  model?: ModelSource | string;
  /** The zod schema of the model's final answer. Without it the answer is text. */
  output?: z.ZodType<Output>;
  /** The most tokens that the model may answer with in one turn. */
  maxOutputTokens?: number;
  /** The price of tokens, by model. A cost budget needs it. */
  prices?: ModelPrices;
  /** The tools that the agent may call; `[]` for none. */
  tools: Tool[];
  /** The plan of runs that are started without one. */
  plan?: Plan;
  /** Chooses the tool calls in code, instead of a plan or a model. */
  planner?: Planner;
  /** Judges each finished pass. Default: a rule, the share of steps that succeeded. */
  review?: Reviewer<NoInfer<Output>>;
  /** Settings that differ from `DEFAULT_POLICY`. A request may override them. */
  policy?: PolicyPatch;
  /** Secret values that the agent holds. They are redacted wherever people read, and in what a model is sent. */
  secrets?: readonly string[];
}
/** An agent, as `defineAgent` returns it. */
export type Agent<Output = unknown> = AgentDefinition<Output>;

/** Whether a model decides what this agent does next. */
export const thinks = (agent: Agent): boolean => agent.instructions !== undefined;

/** Returns the name of the agent's model, or `default` where only the environment of the worker names it. */
export function modelNameOf({ model }: Agent): string {
  if (typeof model === 'string') return model;
  if (model === undefined) return 'default';
  return 'base_url' in model ? model.model : model.modelId;
}

export const manifestOf = (agent: Agent): ToolManifest =>
  Object.fromEntries(agent.tools.map((tool) => [tool.name, tool.manifest]));

/** Finds every agent that a run of this agent may call, at any depth. With a plan, only those that the plan calls. */
export function findHelpers(agent: Agent, plan: Plan | null): Agent[] {
  const asked = plan === null ? agent.tools : agent.tools.filter((tool) => isUsedIn(plan, tool));
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

const isUsedIn = (plan: Plan, { name }: Tool): boolean => plan.steps.some((step) => step.tool === name);

/** Whether a run of this agent may ask a model, to plan or to review. */
export const asksModel = (agent: Agent): boolean => thinks(agent) || agent.review?.asksModel !== undefined;

/** Summarises the helpers for the computation of a run's limit; undefined when there are none. */
export function summariseHelpers(helpers: Agent[]): Helpers | undefined {
  if (helpers.length === 0) return undefined;
  return {
    asks_model: helpers.some((helper) => asksModel(helper) || helper.planner !== undefined),
    wait_per_call_ms: Math.max(...helpers.map(({ policy }) => maxWaitPerCall(mergePolicy(policy).retry))),
  };
}

/**
 * Defines an agent: a name, its tools, and a plan, a planner or instructions for a model that choose the tool calls.
 *
 * Returns the agent, to be given to `createRegistry` or exported from a file of the agents folder. Its `output` schema types the
 * result of its runs; without a schema the result is any JSON. Throws a `TypeError` that lists every problem of the definition.
 *
 * @example
 * ```ts
 * const agent = defineAgent({
 *   name: 'greeter',
 *   tools: [greet],
 *   plan: { steps: [{ phase: 'greet', tool: 'greet', input: { name: 'Ada' } }] },
 * });
 * ```
 */
export function defineAgent<Output = Json>(definition: AgentDefinition<Output>): Agent<Output> {
  const problems = checkAgent(definition);
  if (problems.length > 0) {
    const name = typeof definition?.name === 'string' ? definition.name.slice(0, 80) : '';
    const told = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new TypeError(`The agent ${name === '' ? '(without a name)' : name} is invalid: ${told}`);
  }
  return { ...definition, [AGENT_MARK]: true } as Agent<Output>;
}

/**
 * Marks what `defineAgent` returned, because other objects have a name and tools too. `Symbol.for` gives every copy of this package
 * the same symbol, so agents that were made with another copy are recognised.
 */
const AGENT_MARK = Symbol.for('secondwind.agent');
export const isAgent = (value: unknown): value is Agent =>
  typeof value === 'object' && value !== null && AGENT_MARK in value;
