import { createRegistry, type Registry } from '../../define/registry.ts';
import { demoAgent } from '../demo/demo-agent.ts';

/** The built-in agents. */
export const builtInRegistry = createRegistry([demoAgent]);

/** The built-in agents and those of a folder, if one is named. */
export async function registryWith(folder: string | undefined): Promise<Registry> {
  if (folder === undefined) return builtInRegistry;
  const { loadAgents } = await import('../../define/load/load-agents.ts');
  return loadAgents(folder, [demoAgent]);
}
