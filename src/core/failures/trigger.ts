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
const keyOf = (tool: string | null, kind: 'input' | 'query', text: string): string =>
  sha256Hex(JSON.stringify([tool, kind, text])).slice(0, KEY_CHARS);

/** Short keys, the more telling first: every way in which this trigger may have been remembered. */
export const triggerKeys = ({ tool_name, input_hash, query }: Trigger): string[] => {
  const keys: string[] = [];
  if (query) keys.push(keyOf(tool_name, 'query', normaliseQuery(query)));
  if (input_hash) keys.push(keyOf(tool_name, 'input', input_hash));
  return keys;
};
