import type { Agent } from './define-agent.ts';
import type { Registry } from './registry.ts';

/** The secrets that agents and their tools hold in code. Secrets in environment variables are found elsewhere. */
export const findRegistrySecrets = ({ agents }: Registry): string[] =>
  [...agents.values()].flatMap((agent) => [
    ...(agent.secrets ?? []),
    ...modelKey(agent),
    ...agent.tools.flatMap((tool) => tool.secrets ?? []),
  ]);

const modelKey = ({ model }: Agent): string[] =>
  typeof model === 'object' && 'base_url' in model && model.api_key !== undefined ? [model.api_key] : [];
