import { type Agent, findHelpers } from './define-agent.ts';
import type { Tool } from './define-tool.ts';

/** The agents and tools that a process can run, by name. */
export interface Registry {
  agents: ReadonlyMap<string, Agent>;
  tools: ReadonlyMap<string, Tool>;
}

/**
 * Collects agents, the agents that they call, and all their tools.
 *
 * Returns the registry, to be given to `createWorker` and `createClient`. Throws a `TypeError` if two agents or two different tools
 * have the same name.
 */
export function createRegistry(agents: Agent[]): Registry {
  const known = new Map<string, Agent>();
  const tools = new Map<string, Tool>();
  const owners = new Map<string, string>();
  const twice = agents.find((agent, index) => agents.findIndex(({ name }) => name === agent.name) !== index);
  if (twice !== undefined) throw new TypeError(`Two agents are named ${twice.name}. Rename one of them.`);
  // Agents that are called by other agents run on this worker too.
  const all = [...agents, ...agents.flatMap((agent) => findHelpers(agent, null))];
  for (const agent of new Set(all)) {
    if (known.has(agent.name)) throw new TypeError(`Two agents are named ${agent.name}. Rename one of them.`);
    known.set(agent.name, agent);
    for (const tool of agent.tools) {
      const before = tools.get(tool.name);
      // A tool's name is the name of an activity, which all runs on a worker share.
      if (before !== undefined && before !== tool) {
        const both = [...new Set([owners.get(tool.name), agent.name])].join(' and ');
        throw new TypeError(
          `Two different tools are named ${tool.name} (agents: ${both}). Rename one of them, or give both agents the same tool.`,
        );
      }
      tools.set(tool.name, tool);
      owners.set(tool.name, agent.name);
    }
  }
  return { agents: known, tools };
}
