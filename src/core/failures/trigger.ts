import { sha256Hex } from '../../protocol/ids.ts';
import { normaliseQuery } from './fingerprint.ts';

/**
 * The call that caused a failure: a tool with this input or, for a retrieval, with this query (another page or k is the
 * same question). If the same call succeeds later, the failure is resolved.
 */
export interface Trigger {
  tool_name: string | null;
  input_hash: string | null;
  query?: string | null | undefined;
}

const KEY_CHARS = 16;
const keyOfQuery = (tool: string | null, query: string): string =>
  sha256Hex(JSON.stringify([tool, query])).slice(0, KEY_CHARS);

/** All short keys under which this trigger may be stored, the most specific first. */
export const triggerKeys = ({ tool_name, input_hash, query }: Trigger): string[] => {
  const keys: string[] = [];
  if (query) keys.push(keyOfQuery(tool_name, normaliseQuery(query)));
  // The input hash is already a hash, so a prefix of it is enough.
  if (input_hash) keys.push(`${tool_name ?? ''}:${input_hash.slice(0, KEY_CHARS)}`);
  return keys;
};
