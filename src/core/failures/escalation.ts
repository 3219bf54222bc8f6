import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { OutcomeKind } from '../../protocol/schemas/failure-record.ts';
import type { Certainty, ToolEffect } from '../../protocol/tools.ts';

/** A failure for which the next action has to be decided. */
export interface FailureToDecide {
  kind?: OutcomeKind | undefined;
  category?: FailureCategory | undefined;
  /** A given plan has no alternative, but an agent's planner can choose another call. */
  planner: 'given' | 'chooses';
  /** The step has no retry left, or its strategy allows none. Default: true. */
  exhausted?: boolean | undefined;
  /** Occurrences of the fingerprint since the last progress, including this one. */
  occurrences_since_progress: number;
  escalate_at: number;
  effect?: ToolEffect | undefined;
  certainty?: Certainty | undefined;
  /** For a stall: how often it was recorded in this run, including this time. */
  stalls_of_fingerprint?: number | undefined;
}

export interface Escalation {
  action: 'retry' | 'adapt' | 'ask_human' | 'system_error';
  why: string;
}

interface Row {
  name: string;
  holds: (failure: FailureToDecide) => boolean;
  gives: (failure: FailureToDecide) => Escalation;
}

const askHuman = (why: string): Escalation => ({ action: 'ask_human', why });
const systemError = (why: string): Escalation => ({ action: 'system_error', why });
const adapt = (why: string): Escalation => ({ action: 'adapt', why });
const times = (count: number): string => (count === 1 ? '1 time' : `${count} times`);

/** The first row that holds decides. */
export const ESCALATION_TABLE: readonly Row[] = [
  {
    name: 'a stall that was detected before',
    holds: ({ kind, stalls_of_fingerprint }) => kind === 'repeated_call' && (stalls_of_fingerprint ?? 1) >= 2,
    gives: ({ stalls_of_fingerprint }) =>
      systemError(`the same calls repeated without progress, detected ${stalls_of_fingerprint} times in this run`),
  },
  {
    name: 'a first stall',
    holds: ({ kind }) => kind === 'repeated_call',
    gives: () => askHuman('the same calls repeated without progress, and guidance did not help'),
  },
  {
    // This row comes before the retries, because a side effect that may have happened must not be repeated without a
    // decision.
    name: 'a side effect whose outcome is unknown',
    holds: ({ kind, effect, certainty }) =>
      kind === 'side_effect_unknown' || (effect === 'side_effect' && certainty === 'unknown'),
    gives: () => askHuman('the call was started and it is unknown whether it took effect'),
  },
  {
    // This row comes before the retries and the repairs, because both would do the effect again.
    name: 'a side effect that is done, with an output that cannot be used',
    holds: ({ effect, certainty }) => effect === 'side_effect' && certainty === 'done',
    gives: ({ planner, occurrences_since_progress, escalate_at }) =>
      planner === 'given' || occurrences_since_progress >= escalate_at
        ? askHuman('the call took effect, and its output cannot be used')
        : adapt('the call took effect, and whoever plans is told that its output cannot be used'),
  },
  {
    name: 'pressure and corrections',
    holds: ({ kind }) => kind === 'soft_limit' || kind === 'near_limit' || kind === 'correction',
    gives: () => adapt('nothing failed: the run goes on, knowing more'),
  },
  {
    name: 'retries are left',
    holds: ({ exhausted }) => exhausted === false,
    gives: () => ({ action: 'retry', why: 'the step has retries left' }),
  },
  {
    name: 'a missing pointer',
    holds: ({ kind, category }) => kind === 'pointer_unresolved' || category === 'pointer_unresolved',
    gives: () => systemError('something that the step points to does not exist'),
  },
  {
    name: 'a schema that could not be repaired',
    // Every retry of a contract violation is a repair, so no retries left means that repairs are exhausted.
    holds: ({ kind, category }) => kind === 'repair_exhausted' || category === 'contract_violation',
    gives: () => systemError('the data still did not fit its schema after every repair'),
  },
  {
    name: 'a given plan cannot choose another way',
    holds: ({ planner }) => planner === 'given',
    gives: () => askHuman('the step failed for good and its plan has no other way'),
  },
  {
    name: 'the same failure too often without progress',
    holds: ({ occurrences_since_progress, escalate_at }) => occurrences_since_progress >= escalate_at,
    gives: ({ occurrences_since_progress }) =>
      askHuman(`the same failure occurred ${times(occurrences_since_progress)} without progress`),
  },
];

/** Decides what happens after a failure, with one table for every kind of run. */
export const escalate = (failure: FailureToDecide): Escalation => {
  for (const row of ESCALATION_TABLE) if (row.holds(failure)) return row.gives(failure);
  return adapt('whoever plans can choose another way, and is shown what failed');
};

/**
 * Decides about failures that another system reports. Its retries and planner are unknown, so only the number of
 * occurrences counts, and the kind decides whether a person's answer could help.
 */
export const escalateRepeats = (seen: {
  kind: OutcomeKind;
  occurrences: number;
  escalate_at: number;
}): 'ask_human' | 'system_error' | null => {
  if (seen.occurrences < seen.escalate_at) return null;
  const broken =
    seen.kind === 'pointer_unresolved' || seen.kind === 'repair_exhausted' || seen.kind === 'repeated_call';
  return broken ? 'system_error' : 'ask_human';
};
