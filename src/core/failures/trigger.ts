import { sha256Hex } from '../../protocol/ids.ts';
import { normaliseQuery } from './fingerprint.ts';

/**
 * What set a failure off: a tool with this input or, for a retrieval, with this query (paging or another k does not
 * make another question of it). Exercised again and passed, it proves the failure resolved.
 */
export interface Trigger {
  tool_name: string | null;
  input_hash: string | null;
  query?: string | null | undefined;
}

const KEY_CHARS = 16;
const keyOfQuery = (tool: string | null, query: string): string =>
  sha256Hex(JSON.stringify([tool, query])).slice(0, KEY_CHARS);

/** Short keys, the more telling first: every way in which this trigger may have been remembered. */
export const triggerKeys = ({ tool_name, input_hash, query }: Trigger): string[] => {
  const keys: string[] = [];
  if (query) keys.push(keyOfQuery(tool_name, normaliseQuery(query)));
  // A hash already: what is short and says which tool needs no second one.
  if (input_hash) keys.push(`${tool_name ?? ''}:${input_hash.slice(0, KEY_CHARS)}`);
  return keys;
};
