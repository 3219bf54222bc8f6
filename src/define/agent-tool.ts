import { z } from 'zod';
import { CAP } from '../protocol/caps.ts';
import type { ToolEffect } from '../protocol/tools.ts';
import { type Agent, thinks } from './define-agent.ts';
import { defineTool, type Tool } from './define-tool.ts';

/** Options of `agentTool`. */
export interface AgentToolOptions {
  /** The name of the tool. Default: the name of the agent. */
  name?: string;
  /** When to call this agent, for a model that may call it. */
  description?: string;
  /** True if a person must approve each run of the agent. */
  approval?: boolean;
  /** The longest that one run may take, without the time that it waits for people. Default: what its parent has left. */
  timeoutMs?: number;
}

const DAY_MS = 86_400_000;

/**
 * Makes a tool of another agent. A call of the tool is a run of that agent, durable and guarded like any other, and its usage counts
 * against the budget of the run that called it.
 *
 * Returns the tool. Throws a `TypeError` if the agent has neither instructions nor a planner nor a plan, since a caller sends no plan.
 *
 * @example
 * ```ts
 * const lead = defineAgent({ name: 'lead', instructions: 'Delegate research.', tools: [agentTool(researcher)] });
 * ```
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (!thinks(agent) && agent.planner === undefined && agent.plan === undefined) {
    throw new TypeError(
      `The agent ${agent.name} cannot be used as a tool. Give it instructions, a planner or a plan, because its caller sends none.`,
    );
  }
  const tool = defineTool({
    name: options.name ?? agent.name,
    description: options.description ?? `Gives a task to the agent ${agent.name} and returns its result.`,
    effect: worstEffect(agent),
    input: z.object({
      goal: z.string().min(1).max(CAP.goalChars).describe('The complete task: the agent knows nothing else.'),
      input: z.json().optional().describe('Data for the task.'),
    }),
    output: z.object({ outcome: z.enum(['completed', 'finalized']), output: z.json(), why: z.string().optional() }),
    timeoutMs: options.timeoutMs ?? DAY_MS,
    approval: options.approval === true,
    run: () => {
      throw new TypeError(`${agent.name} is an agent. It runs as a workflow, so its tool has no function to call.`);
    },
  });
  return { ...tool, agent, manifest: { ...tool.manifest, agent: agent.name } };
}

const EFFECTS: readonly ToolEffect[] = ['read', 'idempotent', 'side_effect'];
const worstEffect = ({ tools }: Agent): ToolEffect =>
  EFFECTS[Math.max(0, ...tools.map((tool) => EFFECTS.indexOf(tool.effect)))] ?? 'side_effect';
