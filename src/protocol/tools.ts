import type { Json } from './json.ts';
import type { FailureCategory } from './failure-categories.ts';
import type { Decision, EditedInput } from './questions.ts';
import type { RequestProblem } from './run.ts';
import type { ContextRefs } from './schemas/failure-record.ts';

export type ToolEffect = 'read' | 'idempotent' | 'side_effect';

/** A tool's properties, fixed in the run's input, so that a new deployment never changes an open run. */
export interface ToolManifestEntry {
  name: string;
  effect: ToolEffect;
  kind: 'action' | 'retrieval';
  min_confidence: number;
  timeout_ms: number;
  approval: boolean;
  reconcile: boolean;
  /** The tool's work is checked, so its steps count in the retry monitors. */
  evaluates: boolean;
  schema_hash: string;
  /** The limits, defaults and choices that the input schema states, by argument. Absent if it states none. */
  stated?: Record<string, (string | number | boolean | null)[]>;
  /** The argument that says how many items a call returns, and how many it returns if the call does not say. */
  page?: { argument: string; size?: number };
  /** Set if another agent does the work, in a sub-run with a share of this run's budget. */
  agent?: string;
}
export type ToolManifest = Record<string, ToolManifestEntry>;

export interface GuidanceRow {
  fingerprint: string;
  failure_id: string;
  relevance: number;
  why: string;
  text: string;
  /** Set when the row is a lesson of an earlier run; `fingerprint` is then `lesson:<id>`. */
  reflection_id?: number;
}
export interface Guidance {
  rows: GuidanceRow[];
  /** The exact text that the attempt sees; empty if there are no rows. */
  text: string;
}

/** Limits that the run enforces on a call, each with the failure it comes from. */
export interface Constraints {
  max_output_bytes?: number;
  timeout_ms?: number;
  page_size?: number;
  /** Names of arguments that must no longer be passed. */
  denied_arguments?: string[];
  denied_hosts?: string[];
  origins?: ConstraintOrigin[];
}
export interface ConstraintOrigin {
  constraint: 'max_output_bytes' | 'timeout_ms' | 'page_size' | 'denied_arguments' | 'denied_hosts';
  failure_id: string;
  fingerprint: string;
}

/** Why an attempt is a retry. Used to add to the prompt what the last attempt missed. */
export interface RetryContext {
  category: FailureCategory;
  /** The number of the retry, from 1. */
  retry: number;
  /** The items that a failure report listed as missing. */
  missed: string[];
  /** Feedback that was detected in the output of the failed attempt. */
  feedback?: DetectedFeedback;
}

/** Feedback that was detected in a tool's output or error message. */
export interface DetectedFeedback {
  feedback_type: string;
  confidence: number;
  /** The part of the text that led to the detection. */
  signal: string;
}

/** The prompt that an attempt used, by artifact ids. Set if the tool asked to enhance one. */
export interface PromptUse {
  original_id: string;
  enhanced_id: string;
  /** null if nothing was added. */
  diff_id: string | null;
  enhancement: string;
  /** The refinement actions that were applied because of feedback in the output of the attempt before. Absent if there were none. */
  actions?: string[];
}

export interface KeptArtifact {
  artifact_id: string;
  /** `stdout`, `stderr`, `body`, `output`, or a name that the tool chose. */
  what: string;
  bytes: number;
}

/** One attempt, as it is sent to the activity `tool.<name>`. */
export interface ToolCallRequest {
  run_id: string;
  agent: string;
  loop_id: string;
  step_id: number;
  attempt: number;
  phase: string;
  tool: string;
  input: Json;
  output_schema?: Json;
  /** A model wrote the input, so nothing in it is resolved as an artifact pointer. */
  literal?: true;
  guidance: Guidance;
  constraints: Constraints;
  /** Set on retries, unless enhancement is off. */
  retry_context?: RetryContext;
  idempotency_key: string;
  /** Grows with every attempt, so that a receiver can refuse an older attempt that arrives late. */
  fence: number;
  timeout_ms: number;
  /** How much time the run has left. The call does not wait longer than this for a worker. */
  time_left_ms: number;
  /** The backoff before this attempt. History shows it as a timer; here it is part of the attempt. */
  waited_ms: number;
}

/**
 * What is known of the effect of an attempt that did not succeed. `not_started`: nothing was asked of anyone. `failed`: the
 * receiver refused, so nothing was done. `unknown`: the effect may have happened. `done`: it did happen, but its answer
 * cannot be used.
 */
export type Certainty = 'not_started' | 'failed' | 'unknown' | 'done';
export type Origin = 'tool' | 'infrastructure';

/** Details that an attempt reports beside its outcome, whether it succeeded or failed. */
export interface AttemptDetails {
  /** The tool's own report of what it did differently, made with `ctx.changed`. */
  changed?: string;
  prompt?: PromptUse;
  /** Hash of what the tool's `probe` returned after the call. A changed hash counts as progress. */
  probe_hash?: string;
  detected?: DetectedFeedback;
  /** Artifacts beside the output: the bytes of a command, or an output before it was shortened. */
  kept?: KeptArtifact[];
  /** The query of a retrieval, and the chunks it returned. */
  query?: string;
  chunk_ids?: string[];
  tokens?: number;
  cost_micro_usd?: number;
  /** The model that the tool called. */
  model?: string;
  /** How often models were called. */
  model_calls?: number;
  /** How long the call waited for people. This does not count as the run's time. */
  person_ms?: number;
}

export interface CallSucceeded extends AttemptDetails {
  class: 'ok';
  /** null if the output is too large to travel. Then the store has it under `artifact_id`. */
  output: Json;
  inline: boolean;
  artifact_id: string;
  bytes: number;
  duration_ms: number;
  /** The store stayed away, so the large output travels here: its canonical JSON, compressed, in base64. */
  carried?: string;
  /** The store stayed away and the output is too large to travel: the step succeeded, its output is lost. */
  unsaved?: true;
}
/** What a failed call printed: the salient part, for whoever chose the call. */
export interface FailedOutput {
  /** The id of the text as an artifact. The store gets it with the other outputs of the run. */
  artifact_id: string;
  bytes: number;
  /** Absent once the run holds the text among its outputs. */
  text?: string;
}
export interface CallFailed extends AttemptDetails {
  class: 'failed';
  certainty: Certainty;
  origin: Origin;
  category: FailureCategory;
  error_code: string;
  message_preview: string;
  /** JSON paths of the values that a schema refused, for `fix_schema` and `change_arguments`. */
  paths?: string[];
  retry_after_ms?: number;
  /** The call states that it must not be retried, whatever its category allows. */
  no_retry?: true;
  /** The items that a failure report listed as missing. */
  missed?: string[];
  /** Artifact id of a model's unusable answer, which its next attempt corrects. */
  repair?: string;
  /** Artifact id of what a failed turn sent to the model. It is only read by people. */
  sent?: string;
  /** The run's budget has no room for this call. Nothing was sent, and the run ends. */
  over_budget?: 'tokens' | 'cost_micro_usd';
  /**
   * How long the attempt may still act, because its worker stopped answering and may only be frozen. Absent if it is over.
   */
  may_act_ms?: number;
  /** The attempt did not stop after its timeout, and nobody knows until when it may act. */
  still_running?: true;
  output?: FailedOutput;
  /**
   * Set if a program ended by itself: a hash of its command line, exit code and output. Two attempts with one hash failed
   * in the same way, so the failure is deterministic.
   */
  result_hash?: string;
  /** The cap that the output exceeded. */
  max_bytes?: number;
  /** Ids of the query, the chunks and the evidence that the call was about, for its failure record. */
  refs?: Pick<ContextRefs, 'query_id' | 'chunk_ids' | 'evidence_ids' | 'span'>;
  /** An argument or a host that the tool's own rules refuse. It becomes a constraint. */
  denied?: { argument?: string; host?: string };
  duration_ms: number;
}
export interface CallCancelled {
  class: 'cancelled';
  /** The amounts that the turn had reserved when it was stopped. It is unknown how much of it was used. */
  tokens?: number;
  cost_micro_usd?: number;
  duration_ms: number;
}
export type CallOutcome = CallSucceeded | CallFailed | CallCancelled;

/** The answer of a tool's `reconcile` about an attempt without an answer. */
export type ReconcileOutcome =
  | ({ verdict: 'done' } & Pick<CallSucceeded, 'output' | 'artifact_id' | 'inline' | 'bytes' | 'carried' | 'unsaved'>)
  | { verdict: 'not_done' }
  | { verdict: 'unknown' };

/** An answer that brings another input for a call. A worker checks it by the schema of the tool before it is applied. */
export interface InputToCheck {
  question_id: string;
  decision: Decision;
  by: string;
  text?: string;
  step_id: number;
  tool: string;
  input: Json;
  /** What the person changed; absent if the input is the same. */
  edited?: EditedInput;
}
export type CheckedInput = { ok: true } | { ok: false; problems: RequestProblem[] };

/** An output that a person gave for a call whose effect happened. */
export interface OutputToCheck {
  step_id: number;
  tool: string;
  output: Json;
  /** The schema that the plan expects of this step. */
  output_schema?: Json;
}
export type CheckedOutput =
  | { ok: true; output: Json; artifact_id: string; inline: boolean; bytes: number }
  | { ok: false; problem: string };
