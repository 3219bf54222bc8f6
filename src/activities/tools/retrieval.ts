import type { Json } from '../../protocol/json.ts';

/**
 * A retrieval tool answers with a list of results, bare or as `{results: […]}`; a result may carry a `score`. Nothing
 * found, nothing good enough, or the plain word NO_EVIDENCE is a failure signal of its own, not a success.
 */
export function problemOfRetrieval(output: Json, minConfidence: number): { code: string; message: string } | null {
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

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const resultsOf = (output: Json): Json[] | null => {
  if (Array.isArray(output)) return output;
  const results = isObject(output) ? output['results'] : undefined;
  return Array.isArray(results) ? results : null;
};

const saysNoEvidence = (output: Json): boolean =>
  output === 'NO_EVIDENCE' || (isObject(output) && output['status'] === 'NO_EVIDENCE');
