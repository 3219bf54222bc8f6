import { createRegistry } from '../../define/registry.ts';
import { demoAgent } from '../../demo/demo-agent.ts';

/** The agents that every process of ours knows. */
export const builtInRegistry = createRegistry([demoAgent]);
