import { z } from 'zod';
import { CAP } from '../protocol/caps.ts';
import type { ToolEffect } from '../protocol/tools.ts';
import { type Agent, thinks } from './define-agent.ts';
import { defineTool, type Tool } from './define-tool.ts';

export interface AgentToolOptions {
  /** Default: the agent's own. */
  name?: string;
  /** When to ask this agent, in words for the model that may. */
  description?: string;
  /** A person must approve each run of it. */
  approval?: boolean;
  /** The longest that one run of it may work, people left out. Default: what its parent has left. */
  timeoutMs?: number;
}

const DAY_MS = 86_400_000;

/**
 * Another agent as a tool: a call of it is a run of its own, durable and guarded like any other, that draws on the
 * budget of the run which called it.
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (!thinks(agent) && agent.planner === undefined && agent.plan === undefined) {
    throw new TypeError(`The agent ${agent.name} needs instructions, a planner or a plan to work for another.`);
  }
  const tool = defineTool({
    name: options.name ?? agent.name,
    description: options.description ?? `Hands a task to the agent ${agent.name} and gives back its result.`,
    effect: worstEffect(agent),
    input: z.object({
      goal: z.string().min(1).max(CAP.goalChars).describe('What to do, complete: it knows nothing else.'),
      input: z.json().optional().describe('Data for it.'),
    }),
    output: z.object({ outcome: z.enum(['completed', 'finalized']), output: z.json(), why: z.string().optional() }),
    timeoutMs: options.timeoutMs ?? DAY_MS,
    approval: options.approval === true,
    run: () => {
      throw new TypeError(`${agent.name} is an agent: it runs as a workflow, never inside an activity.`);
    },
  });
  return { ...tool, agent, manifest: { ...tool.manifest, agent: agent.name } };
}

const EFFECTS: readonly ToolEffect[] = ['read', 'idempotent', 'side_effect'];
const worstEffect = ({ tools }: Agent): ToolEffect =>
  EFFECTS[Math.max(0, ...tools.map((tool) => EFFECTS.indexOf(tool.effect)))] ?? 'side_effect';
