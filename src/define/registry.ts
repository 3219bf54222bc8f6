import { type Agent, helpersIn } from './define-agent.ts';
import type { Tool } from './define-tool.ts';

/** The agents and tools that a process knows. */
export interface Registry {
  agents: ReadonlyMap<string, Agent>;
  tools: ReadonlyMap<string, Tool>;
}

export function createRegistry(agents: Agent[]): Registry {
  const known = new Map<string, Agent>();
  const tools = new Map<string, Tool>();
  const twice = agents.find((agent, index) => agents.findIndex(({ name }) => name === agent.name) !== index);
  if (twice !== undefined) throw new TypeError(`Two agents are named ${twice.name}.`);
  // Who is asked by another agent has to be known too.
  const all = [...agents, ...agents.flatMap((agent) => helpersIn(agent, null))];
  for (const agent of new Set(all)) {
    if (known.has(agent.name)) throw new TypeError(`Two agents are named ${agent.name}.`);
    known.set(agent.name, agent);
    for (const tool of agent.tools) {
      const before = tools.get(tool.name);
      // One activity serves all runs, so a tool's name means one thing on a worker.
      if (before !== undefined && before !== tool) throw new TypeError(`Two different tools are named ${tool.name}.`);
      tools.set(tool.name, tool);
    }
  }
  return { agents: known, tools };
}
