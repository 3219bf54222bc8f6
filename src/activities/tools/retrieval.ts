import type { Redact } from '../../core/redaction/redact.ts';
import type { Tool } from '../../define/define-tool.ts';
import { sha256Hex } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { truncate } from './shorten-text.ts';

/**
 * Checks the output of a retrieval tool: a list of results, bare or as `{results: […]}`, where a result may have a
 * `score`. An empty list, scores that are all too low, and the word NO_EVIDENCE count as failures.
 */
export function findRetrievalProblem(output: Json, minConfidence: number): { code: string; message: string } | null {
  if (saysNoEvidence(output)) return { code: 'NO_EVIDENCE', message: 'the retrieval found no evidence' };
  const results = resultsOf(output);
  if (results === null) return null;
  if (results.length === 0) return { code: 'EMPTY_RESULT', message: 'the retrieval found nothing' };
  const scores = results.flatMap((result) => {
    const score = isObject(result) ? result['score'] : undefined;
    return typeof score === 'number' ? [score] : [];
  });
  if (scores.length === 0) return null;
  const best = Math.max(...scores);
  return best < minConfidence ? { code: 'LOW_CONFIDENCE', message: `the best score is below ${minConfidence}` } : null;
}

const QUERY_CHARS = 500;

/** The query of a retrieval: what the tool's `queryOf` returns, or else the input's `query` or `q`. */
export function queryOf(tool: Tool, input: unknown, redact: Redact): string | undefined {
  if (tool.manifest.kind !== 'retrieval') return undefined;
  const query = tool.queryOf === undefined ? queryIn(input) : orUndefined(() => tool.queryOf?.(input));
  return typeof query === 'string' && query !== '' ? truncate(toWellFormed(redact(query)), QUERY_CHARS) : undefined;
}

function queryIn(input: unknown): unknown {
  if (!isObject(input as Json)) return undefined;
  const { query, q } = input as { query?: unknown; q?: unknown };
  return typeof query === 'string' ? query : q;
}

function orUndefined<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

const MAX_CHUNKS = 50;
const CHUNK_CHARS = 128;

/**
 * The sorted ids of the results. If there are too many, only the first ones travel, with a hash of all ids, so that
 * different sets still differ.
 */
export function chunkIdsOf(output: Json, redact: Redact): string[] {
  const ids = (resultsOf(output) ?? []).flatMap((result) => {
    const id = isObject(result) ? (result['id'] ?? result['chunk_id']) : undefined;
    return typeof id === 'string' || typeof id === 'number' ? [toWellFormed(redact(String(id)))] : [];
  });
  const sorted = [...new Set(ids)].sort();
  const travelling = sorted.slice(0, MAX_CHUNKS).map((id) => truncate(id, CHUNK_CHARS));
  return sorted.length <= MAX_CHUNKS ? travelling : [...travelling, `all:${sha256Hex(JSON.stringify(sorted))}`];
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const resultsOf = (output: Json): Json[] | null => {
  if (Array.isArray(output)) return output;
  const results = isObject(output) ? output['results'] : undefined;
  return Array.isArray(results) ? results : null;
};

const saysNoEvidence = (output: Json): boolean =>
  output === 'NO_EVIDENCE' || (isObject(output) && output['status'] === 'NO_EVIDENCE');
