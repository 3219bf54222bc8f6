import type { SignalType } from '../../protocol/schemas/failure-record.ts';
import type { Guidance, GuidanceRow } from '../../protocol/tools.ts';
import type { FailureMemory, FoldedFailure } from './folded-failure.ts';
import type { Relevance } from './render-guidance.ts';
import { explainChoice, renderGuidance } from './render-guidance.ts';
import { severityRank } from './severity.ts';

/** The next attempt. The optional fields are known if the step has failed before. */
export interface GuidanceSituation {
  tool_name: string | null;
  phase: string;
  fingerprint?: string | null | undefined;
  error_code?: string | null | undefined;
  signal_type?: SignalType | null | undefined;
}

interface Candidate {
  failure: FoldedFailure;
  relevance: Relevance;
}

const relevanceOf = (failure: FoldedFailure, situation: GuidanceSituation): Relevance | null => {
  if (failure.fingerprint === situation.fingerprint) return 4;
  if (failure.tool_name !== null && failure.tool_name === situation.tool_name) {
    return failure.error_code !== null && failure.error_code === situation.error_code ? 3 : 2;
  }
  return failure.signal_type === situation.signal_type && failure.phase === situation.phase ? 1 : null;
};

/** Negative if `a` comes first. The fingerprint makes the order total, so equal states give equal text. */
const order = (a: Candidate, b: Candidate): number =>
  b.relevance - a.relevance ||
  severityRank(b.failure.severity) - severityRank(a.failure.severity) ||
  b.failure.last_seen_step_id - a.failure.last_seen_step_id ||
  b.failure.helpful_count - b.failure.harmful_count - (a.failure.helpful_count - a.failure.harmful_count) ||
  (a.failure.fingerprint < b.failure.fingerprint ? -1 : 1);

/** Keeps the first k in order. As k is small, insertion is faster than sorting all failures. */
const insert = (best: Candidate[], candidate: Candidate, k: number): void => {
  let at = best.length;
  for (let before = best[at - 1]; before !== undefined && order(candidate, before) < 0; before = best[at - 1]) at -= 1;
  best.splice(at, 0, candidate);
  if (best.length > k) best.pop();
};

const selectBest = (failures: readonly FoldedFailure[], situation: GuidanceSituation, k: number): Candidate[] => {
  const best: Candidate[] = [];
  for (const failure of failures) {
    if (failure.status !== 'active') continue;
    const relevance = relevanceOf(failure, situation);
    const last = best[k - 1];
    // Most failures are skipped here, before an object is allocated, which keeps thousands of them under a millisecond.
    if (relevance === null || (last !== undefined && relevance < last.relevance)) continue;
    const candidate = { failure, relevance };
    if (last === undefined || order(candidate, last) < 0) insert(best, candidate, k);
  }
  return best;
};

/**
 * Selects the rows of guidance for the next attempt: one per fingerprint, only active ones, most relevant first. If
 * they do not fit, rows are dropped from the end; a row is never cut.
 */
export const selectGuidance = (
  memory: FailureMemory,
  situation: GuidanceSituation,
  { k, maxChars }: { k: number; maxChars: number },
): Guidance => {
  const best = k > 0 ? selectBest(memory.by_fingerprint, situation, k) : [];
  const rows: GuidanceRow[] = [];
  let chars = 0;
  for (const { failure, relevance } of best) {
    const text = renderGuidance(failure);
    chars += text.length + (rows.length > 0 ? 1 : 0);
    if (chars > maxChars) break;
    const why = explainChoice(failure, relevance);
    // In canonical order, because rows are part of manifests, which are hashed.
    rows.push({ failure_id: failure.last_failure_id, fingerprint: failure.fingerprint, relevance, text, why });
  }
  return { rows, text: rows.map((row) => row.text).join('\n') };
};
