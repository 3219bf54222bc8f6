import { CAP } from '../../protocol/caps.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { foldOccurrence } from './folded-failure.ts';
import type { FailureMemory, FoldedFailure } from './folded-failure.ts';
import { severityRank } from './severity.ts';
import { triggerKeys } from './trigger.ts';

export interface RememberOptions {
  tool_schema_hash?: string | null | undefined;
  /**
   * The query of a retrieval. If set, a later success with the same query resolves the failure, even if the rest of the
   * input differs.
   */
  query?: string | null | undefined;
  /** How many distinct fingerprints to keep. Only benchmarks and stores change it. */
  max_fingerprints?: number | undefined;
}

export const findFailure = (memory: FailureMemory, fingerprint: string): FoldedFailure | undefined =>
  memory.by_fingerprint.find((failure) => failure.fingerprint === fingerprint);

/** Sorts the least useful failure first: resolved ones, then the least severe, then the longest unseen. */
const compareUsefulness = (a: FoldedFailure, b: FoldedFailure): number =>
  Number(a.status === 'active') - Number(b.status === 'active') ||
  severityRank(a.severity) - severityRank(b.severity) ||
  a.last_ordinal - b.last_ordinal ||
  (a.fingerprint < b.fingerprint ? -1 : 1);

/** The memory is part of the run's state and may take about a third of it, however long names and paths are. */
const MEMORY_CHARS = 64 * 1024;
/** This few always fit, so they are not measured. */
const ALWAYS_FITS = 25;

const withinCap = (memory: FailureMemory, latest: FoldedFailure, max: number): FailureMemory => {
  const { by_fingerprint } = memory;
  if (by_fingerprint.length <= Math.min(max, ALWAYS_FITS)) return memory;
  const measured = max === CAP.fingerprintsInState && by_fingerprint.length > ALWAYS_FITS;
  const chars = (failure: FoldedFailure): number => (measured ? JSON.stringify(failure).length : 0);
  let tooMany = by_fingerprint.length - max;
  let tooLong = by_fingerprint.reduce((sum, failure) => sum + chars(failure), 0) - MEMORY_CHARS;
  if (tooMany <= 0 && tooLong <= 0) return memory;
  const gone = new Set<FoldedFailure>();
  for (const failure of by_fingerprint.filter((failure) => failure !== latest).sort(compareUsefulness)) {
    if (tooMany <= 0 && tooLong <= 0) break;
    gone.add(failure);
    tooMany -= 1;
    tooLong -= chars(failure);
  }
  const goneActive = [...gone].filter((failure) => failure.status === 'active').length;
  return {
    ...memory,
    by_fingerprint: by_fingerprint.filter((failure) => !gone.has(failure)),
    folded_away: memory.folded_away + goneActive,
  };
};

const replaced = (memory: FailureMemory, known: FoldedFailure | undefined, next: FoldedFailure): FoldedFailure[] =>
  known
    ? memory.by_fingerprint.map((failure) => (failure === known ? next : failure))
    : [...memory.by_fingerprint, next];

/** Adds a record. The same record twice in a row counts once, because a handler may be called again with it. */
export const addFailure = (
  memory: FailureMemory,
  record: FailureRecord,
  options: RememberOptions = {},
): FailureMemory => {
  const known = findFailure(memory, record.fingerprint);
  if (known?.last_failure_id === record.failure_id) return memory;
  const { tool_name, input_hash } = record.attempted_action;
  const folded = foldOccurrence(known, {
    record,
    ordinal: memory.total + 1,
    trigger_key: triggerKeys({ tool_name, input_hash, query: options.query })[0] ?? null,
    tool_schema_hash: options.tool_schema_hash ?? null,
  });
  const by_signal = { ...memory.by_signal };
  by_signal[record.signal_type] = (by_signal[record.signal_type] ?? 0) + 1;
  const next: FailureMemory = {
    by_fingerprint: replaced(memory, known, folded),
    total: memory.total + 1,
    by_signal,
    folded_away: memory.folded_away,
  };
  return withinCap(next, folded, options.max_fingerprints ?? CAP.fingerprintsInState);
};

export const changeFailures = (
  memory: FailureMemory,
  change: (failure: FoldedFailure) => FoldedFailure,
): FailureMemory => ({ ...memory, by_fingerprint: memory.by_fingerprint.map(change) });

/** Notes that a step succeeded with a new artifact, which resets the counts "since progress". */
export const noteProgress = (memory: FailureMemory): FailureMemory =>
  memory.by_fingerprint.some(({ since_progress }) => since_progress > 0)
    ? changeFailures(memory, (failure) => (failure.since_progress === 0 ? failure : { ...failure, since_progress: 0 }))
    : memory;

/**
 * Notes that a person answered about this failure. This counts as progress only once, so that answers cannot keep a
 * hopeless run going.
 */
export const noteHumanAnswer = (memory: FailureMemory, fingerprint: string): FailureMemory => {
  const failure = findFailure(memory, fingerprint);
  if (!failure || failure.human_answered) return memory;
  return {
    ...memory,
    by_fingerprint: replaced(memory, failure, { ...failure, since_progress: 0, human_answered: true }),
  };
};

export interface FailureCounts {
  /** Number of records. */
  total: number;
  /** Number of fingerprints that are active. */
  active: number;
  by_signal: Record<string, number>;
}

export const countFailures = (memory: FailureMemory): FailureCounts => {
  const active = memory.by_fingerprint.filter((failure) => failure.status === 'active').length;
  return { total: memory.total, active: active + memory.folded_away, by_signal: { ...memory.by_signal } };
};
