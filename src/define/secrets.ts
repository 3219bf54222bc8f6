import type { Agent } from './define-agent.ts';
import type { Registry } from './registry.ts';

/** What agents and their tools hold in code, which no environment variable tells. */
export const secretsOfRegistry = ({ agents }: Registry): string[] =>
  [...agents.values()].flatMap((agent) => [
    ...(agent.secrets ?? []),
    ...keyOfModel(agent),
    ...agent.tools.flatMap((tool) => tool.secrets ?? []),
  ]);

const keyOfModel = ({ model }: Agent): string[] =>
  typeof model === 'object' && 'base_url' in model && model.api_key !== undefined ? [model.api_key] : [];
