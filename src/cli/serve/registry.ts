import { createRegistry, type Registry } from '../../define/registry.ts';
import { demoAgent } from '../demo/demo-agent.ts';

/** The agents that every process of ours knows. */
export const builtInRegistry = createRegistry([demoAgent]);

/** Those, and the ones of a folder where one is named. */
export async function registryWith(folder: string | undefined): Promise<Registry> {
  if (folder === undefined) return builtInRegistry;
  const { loadAgents } = await import('../../define/load/load-agents.ts');
  return loadAgents(folder, [demoAgent]);
}
