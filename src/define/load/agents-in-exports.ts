import { isRecord } from '../../protocol/json.ts';
import { type Agent, isAgent } from '../define-agent.ts';
import { isTool } from '../define-tool.ts';

export interface FoundInFile {
  agents: { name: string; agent: Agent }[];
  /** A description of each export that is not an agent. */
  others: { name: string; what: string; wasMeant: boolean }[];
}

/**
 * Finds every agent among the exports of a file, single or in lists. The other exports are described too, because one of them may
 * have been meant as an agent.
 */
export function agentsInExports(exported: [string, unknown][]): FoundInFile {
  const found: FoundInFile = { agents: [], others: [] };
  for (const [name, value] of exported) {
    const items = Array.isArray(value) ? (value as unknown[]) : [value];
    for (const agent of items.filter(isAgent)) found.agents.push({ name, agent });
    const others = items.filter((item) => !isAgent(item));
    if (others.length === 0 && items.length > 0) continue;
    const isMixed = others.length < items.length;
    const what = isMixed ? `a list with ${others.length} items that are not agents` : describe(value);
    const wasMeant = isMixed || others.some(looksLikeAgent) || (name === 'default' && !isTool(value));
    found.others.push({ name, what, wasMeant });
  }
  return found;
}

const looksLikeAgent = (value: unknown): boolean =>
  isRecord(value) && typeof value['name'] === 'string' && Array.isArray(value['tools']);

function describe(value: unknown): string {
  if (isTool(value)) return 'a tool';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${describe(value[0])}`;
  if (looksLikeAgent(value)) return 'an object that looks like an agent but was not made by defineAgent';
  if (typeof value === 'function') return 'a function';
  return value === null || value === undefined
    ? String(value)
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`;
}
