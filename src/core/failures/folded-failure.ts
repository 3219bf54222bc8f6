import type {
  FailureRecord,
  FailureStatus,
  OutcomeKind,
  RecommendedAdjustment,
  Severity,
  SignalType,
} from '../../protocol/schemas/failure-record.ts';

/** All occurrences of one fingerprint in one run, as plain JSON in the run's state. */
export interface FoldedFailure {
  fingerprint: string;
  first_failure_id: string;
  last_failure_id: string;
  signal_type: SignalType;
  severity: Severity;
  phase: string;
  tool_name: string | null;
  kind: OutcomeKind;
  error_code: string | null;
  recommended_adjustment: RecommendedAdjustment;
  occurrence_count: number;
  /** Occurrences since the last progress. Escalation counts these. */
  since_progress: number;
  last_seen_step_id: number;
  /** The number of the latest record of this failure within the run. It gives an order without a clock. */
  last_ordinal: number;
  helpful_count: number;
  harmful_count: number;
  status: FailureStatus;
  tool_schema_hash: string | null;
  /** Triggers that have not succeeded since they failed. The failure is resolved when none is open. */
  open_triggers: string[];
  /**
   * True if more triggers failed than are kept, or one could not be identified. Then nothing can prove the failure
   * resolved.
   */
  unprovable: boolean;
  /** True once a person's answer has counted as progress. */
  human_answered: boolean;
  message_preview: string | null;
}

export interface FailureMemory {
  /**
   * One entry per fingerprint, in the order of the first occurrence. A list is smaller and faster to scan than an
   * object.
   */
  by_fingerprint: FoldedFailure[];
  /** Number of records, not of fingerprints. */
  total: number;
  by_signal: Record<string, number>;
  /** Number of active fingerprints that were dropped because the state was full. */
  folded_away: number;
}

export const emptyFailureMemory = (): FailureMemory => ({
  by_fingerprint: [],
  total: 0,
  by_signal: {},
  folded_away: 0,
});

/** A revision as the memory makes it. The caller adds run, step, attempt and time. */
export interface NewRevision {
  /** Derived, so that storing it twice has no effect. */
  revision_id: string;
  fingerprint: string;
  /** The latest occurrence that the revision is about. A later occurrence makes the fingerprint active again. */
  failure_id: string;
  kind: 'shown_helpful' | 'shown_harmful' | 'resolved' | 'superseded';
}

/** A changed memory, together with the revisions to store. */
export interface RevisedMemory {
  memory: FailureMemory;
  revisions: NewRevision[];
}

const PREVIEW_CHARS = 120;
const MAX_OPEN_TRIGGERS = 8;

/** Signals that a later success can disprove. A person's correction, a stall or a spent budget cannot be disproved. */
const PROVABLE: readonly SignalType[] = ['tool_error', 'retrieval_failure', 'contract_violation'];

/** An occurrence of a failure: its record, and details beside it. */
export interface Occurrence {
  record: FailureRecord;
  ordinal: number;
  trigger_key: string | null;
  tool_schema_hash: string | null;
}

const withTrigger = (open: readonly string[], key: string | null): { open_triggers: string[]; complete: boolean } => {
  if (key === null) return { open_triggers: [...open], complete: false };
  if (open.includes(key)) return { open_triggers: [...open], complete: true };
  return { open_triggers: [...open, key].slice(-MAX_OPEN_TRIGGERS), complete: open.length < MAX_OPEN_TRIGGERS };
};

/** Adds one occurrence to what is known of its fingerprint. */
export const foldOccurrence = (known: FoldedFailure | undefined, occurrence: Occurrence): FoldedFailure => {
  const { record, ordinal, trigger_key, tool_schema_hash } = occurrence;
  // A resolved or superseded failure that occurs again starts with only the trigger of this occurrence.
  const stillOpen = known?.status === 'active' ? known : undefined;
  const { open_triggers, complete } = withTrigger(stillOpen?.open_triggers ?? [], trigger_key);
  return {
    fingerprint: record.fingerprint,
    first_failure_id: known?.first_failure_id ?? record.failure_id,
    last_failure_id: record.failure_id,
    signal_type: record.signal_type,
    severity: record.severity,
    phase: record.phase,
    tool_name: record.attempted_action.tool_name,
    kind: record.observed_outcome.kind,
    error_code: record.observed_outcome.error_code ?? null,
    recommended_adjustment: record.recommended_adjustment,
    occurrence_count: (known?.occurrence_count ?? 0) + 1,
    since_progress: (known?.since_progress ?? 0) + 1,
    last_seen_step_id: record.step_id,
    last_ordinal: ordinal,
    helpful_count: known?.helpful_count ?? 0,
    harmful_count: known?.harmful_count ?? 0,
    status: 'active',
    tool_schema_hash: tool_schema_hash ?? known?.tool_schema_hash ?? null,
    open_triggers,
    unprovable: !complete || (stillOpen?.unprovable ?? false) || !PROVABLE.includes(record.signal_type),
    human_answered: known?.human_answered ?? false,
    message_preview: record.observed_outcome.message_preview?.slice(0, PREVIEW_CHARS) ?? null,
  };
};
