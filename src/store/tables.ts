import type { ColumnType, Generated } from 'kysely';
import type { EnhancementJudgement, SwitchOffReason } from '../core/retry/switch-off.ts';
import type { DecisionAction, DecisionKind } from '../protocol/guard-decisions.ts';
import type { EnhancementArm, FeedbackSource, StepEvaluation, ToolSchemas } from '../protocol/lessons.ts';
import type { FailureRecord, FailureStatus } from '../protocol/schemas/failure-record.ts';

/** Read as parsed JSON, written as text (see `jsonParameter`). */
type Jsonb<T> = ColumnType<T, string, never>;
type Time = ColumnType<Date, string | Date, never>;
type TimeByDatabase = ColumnType<Date, never, never>;

interface FailureRecordsTable {
  failure_id: string;
  run_id: string;
  step_id: number;
  phase: string;
  signal_type: FailureRecord['signal_type'];
  severity: FailureRecord['severity'];
  fingerprint: string;
  attempted_action: Jsonb<FailureRecord['attempted_action']>;
  observed_outcome: Jsonb<FailureRecord['observed_outcome']>;
  recommended_adjustment: Jsonb<FailureRecord['recommended_adjustment']>;
  context_refs: Jsonb<FailureRecord['context_refs']>;
  created_at: Time;
  agent: string | null;
  recorded_at: TimeByDatabase;
  tenant: ColumnType<string | null, string | null | undefined, never>;
}

type RevisionKind = 'resolved' | 'superseded' | 'shown_helpful' | 'shown_harmful';

interface FailureRevisionsTable {
  revision_id: string;
  run_id: string;
  fingerprint: string;
  failure_id: string | null;
  kind: RevisionKind;
  step_id: number;
  attempt: number | null;
  by: string;
  reason: string | null;
  created_at: Time;
  recorded_at: TimeByDatabase;
}

interface FailureStatusView {
  run_id: string;
  fingerprint: string;
  status: FailureStatus;
  occurrence_count: number;
  last_seen_step_id: number;
  helpful_count: number;
  harmful_count: number;
  first_failure_id: string;
  last_failure_id: string;
}

interface ArtifactsTable {
  id: string;
  /** With a `data_key` it is encrypted. */
  content: Uint8Array;
  media_type: string;
  /** Of the plain content. */
  bytes: number;
  created_at: TimeByDatabase;
  /** The main key that wrapped the data key; null: the content is not encrypted. */
  main_key: string | null;
  data_key: Uint8Array | null;
}

interface ArchivedRunsTable {
  run_id: string;
  agent: string;
  goal: string;
  outcome: string;
  summary: Jsonb<unknown>;
  trace: Jsonb<unknown>;
  labels: string[];
  started_at: Time;
  ended_at: Time;
  archived_at: TimeByDatabase;
}

interface ArchivedGuardsTable {
  family: string;
  ending: ColumnType<unknown, string, never>;
  started_at: Time;
  ended_at: Time;
  archived_at: TimeByDatabase;
}

interface ReservationsTable {
  family: string;
  run_id: string | null;
  start_key: string | null;
  request_hash: string | null;
  reserved_at: ColumnType<Date, never, Date>;
}

interface ReflectionsTable {
  id: Generated<number>;
  scope: 'agent' | 'global';
  agent: string | null;
  tenant: ColumnType<string | null, string | null | undefined, never>;
  scope_key: ColumnType<string, never, never>;
  error_type: string;
  error_signature: string;
  /** The fingerprint of the failure that the lesson was learnt from. */
  fingerprint: ColumnType<string | null, string | null | undefined, never>;
  category: Generated<string>;
  content: string;
  rationale: string;
  tags: string[];
  tools: string[];
  context: Jsonb<ReflectionContext>;
  created_at: TimeByDatabase;
}

interface ReflectionCurrentView extends Omit<ReflectionsTable, 'id'> {
  id: number;
  original_content: string;
  retired: boolean;
  pinned: boolean;
  status: LessonStatus;
  phase: string;
  occurrence_count: number;
  last_seen_at: Date;
  succeeded_count: number;
  failed_count: number;
}

/** The texts that searches compare, in a table of their own, so that a search reads only its own part. */
interface ReflectionTextsTable {
  reflection_id: number;
  scope_key: string;
  error_type: string;
  content: string;
}

/** A text by which a lesson or a known failure is found. */
interface RecallTextsTable {
  id: Generated<number>;
  scope_key: string;
  /** Null for a failure. */
  reflection_id: number | null;
  fingerprint: string | null;
  part: RecallPart;
  tool_name: string | null;
  error_code: string | null;
  text: string | null;
  normal_hash: string | null;
  words: string[];
  passing: string[];
}

export type RecallPart = 'error' | 'content' | 'failure' | 'names';

interface RecallWordsTable {
  word: string;
  scope_key: string;
  text_id: number;
}

export interface ReflectionContext {
  error_signature: string;
  original_query: string;
  iteration_count: number;
  quality_improvement: number;
  reflection_context: string;
}

interface ReflectionOccurrencesTable {
  occurrence_id: string;
  reflection_id: number;
  stored: boolean;
  run_id: string | null;
  similarity: number;
  /** The hash of the schema of each of its tools at that time; null for an imported lesson or an older build. */
  tool_schemas: ColumnType<ToolSchemas | null, string | null, never>;
  created_at: TimeByDatabase;
}

/** A value that a run found to work and that nothing explains, as a hash. */
interface ReflectionClaimsTable {
  scope_key: string;
  fingerprint: string;
  claim: string;
  run_id: string;
  goal_hash: string;
  input_hash: string;
  created_at: TimeByDatabase;
}

interface ReflectionUsesTable {
  use_id: string;
  reflection_id: number;
  run_id: string;
  succeeded: boolean;
  created_at: TimeByDatabase;
}

/** One run's observation for the trial of a lesson. */
interface ReflectionTrialsTable {
  id: Generated<number>;
  reflection_id: number;
  run_id: string;
  phase: string;
  shown: boolean;
  share_shown: number;
  first_ok: boolean;
  attempts: number;
  same_again: boolean;
  created_at: TimeByDatabase;
}

/** A change of a lesson's status by its trial, with the figures that led to it. */
interface ReflectionVerdictsTable {
  id: Generated<number>;
  reflection_id: number;
  phase: string;
  status: 'proven' | 'quarantined';
  shown: number;
  withheld: number;
  effect: number;
  low: number;
  high: number;
  created_at: TimeByDatabase;
}

export type LessonStatus = 'candidate' | 'proven' | 'quarantined';

export type ReflectionAction = 'retire' | 'restore' | 'pin' | 'unpin' | 'edit';

interface ReflectionRevisionsTable {
  id: Generated<number>;
  reflection_id: number;
  action: ReflectionAction;
  content: string | null;
  by: string;
  reason: string | null;
  created_at: TimeByDatabase;
}

interface FeedbackLogTable {
  id: Generated<number>;
  entry_id: string;
  run_id: string | null;
  timestamp: Time;
  original_prompt: string;
  feedback_type: string;
  feedback_signal: string;
  actions_applied: string[];
  refined_prompt: string;
  iteration: number;
  success: boolean;
  source: FeedbackSource;
}

interface BiasCountsTable {
  tenant: ColumnType<string | null, string | null | undefined, never>;
  tag: string;
  family: string;
  loop_id: string;
  created_at: TimeByDatabase;
}

interface RetryMonitorsTable {
  id: Generated<number>;
  run_id: string;
  step_id: number;
  agent: string;
  model: string | null;
  attempts: number;
  first_ok: boolean;
  final_ok: boolean;
  category: string | null;
  base_ms: number;
  added_ms: number;
  base_cost_micro_usd: number;
  added_cost_micro_usd: number;
  created_at: Time;
  subject: string | null;
  /** The number of the first attempt that succeeded, from 0; null if none did. */
  ok_at: number | null;
  attempt_list: Jsonb<StepEvaluation['attempts']>;
  other_ms: number;
  other_cost_micro_usd: number;
  arm: ColumnType<EnhancementArm | null, EnhancementArm | null | undefined, never>;
}

interface EnhancementSwitchesTable {
  id: Generated<number>;
  agent: string;
  enhancement: 'on' | 'off';
  reason: SwitchOffReason | 'by_person' | null;
  sentence: string | null;
  judgement: ColumnType<EnhancementJudgement | null, string | null, never>;
  by: string;
  /** A person's note. */
  note: string | null;
  at: TimeByDatabase;
}

interface RefusedPartsTable {
  id: Generated<number>;
  run_id: string;
  kind: string;
  part_id: string;
  reason: string;
  created_at: TimeByDatabase;
}

/** The figures of one ended run, for the monitors. */
interface RunFiguresTable {
  run_id: string;
  agent: string;
  outcome: string;
  ended_at: Time;
  steps: number;
  attempts: number;
  cost_micro_usd: number;
  work_ms: number;
  escalations: number;
  held_calls: number;
  retrievals: number;
  with_evidence: number;
  waste_attempts: number;
  waste_ms: number;
  waste_cost_micro_usd: number;
  stalls: number;
  repeated_failures: number;
}

interface GuardDecisionsTable {
  id: Generated<number>;
  decision_id: string;
  run_id: string;
  agent: string | null;
  kind: DecisionKind;
  rule: string;
  action: DecisionAction;
  why: string;
  loop_id: string;
  step_id: number | null;
  fingerprint: string | null;
  decided_at: Time;
}

interface DecisionVerdictsTable {
  id: Generated<number>;
  run_id: string;
  decision_id: string;
  wrong: boolean;
  by: string;
  reason: string | null;
  created_at: TimeByDatabase;
}

export interface Tables {
  failure_records: FailureRecordsTable;
  failure_revisions: FailureRevisionsTable;
  failure_status: FailureStatusView;
  artifacts: ArtifactsTable;
  archived_runs: ArchivedRunsTable;
  archived_guards: ArchivedGuardsTable;
  reservations: ReservationsTable;
  reflections: ReflectionsTable;
  reflection_current: ReflectionCurrentView;
  reflection_texts: ReflectionTextsTable;
  recall_texts: RecallTextsTable;
  recall_words: RecallWordsTable;
  reflection_occurrences: ReflectionOccurrencesTable;
  reflection_claims: ReflectionClaimsTable;
  reflection_uses: ReflectionUsesTable;
  reflection_trials: ReflectionTrialsTable;
  reflection_verdicts: ReflectionVerdictsTable;
  reflection_revisions: ReflectionRevisionsTable;
  feedback_log: FeedbackLogTable;
  bias_counts: BiasCountsTable;
  retry_monitors: RetryMonitorsTable;
  enhancement_switches: EnhancementSwitchesTable;
  refused_parts: RefusedPartsTable;
  run_figures: RunFiguresTable;
  guard_decisions: GuardDecisionsTable;
  decision_verdicts: DecisionVerdictsTable;
}
