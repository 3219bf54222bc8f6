import type { Json } from './json.ts';
import type { FailureCategory } from './failure-categories.ts';

export type ToolEffect = 'read' | 'idempotent' | 'side_effect';

/** What a tool is, fixed in the run's input: a new deployment never changes an open run. */
export interface ToolManifestEntry {
  name: string;
  effect: ToolEffect;
  kind: 'action' | 'retrieval';
  min_confidence: number;
  timeout_ms: number;
  approval: boolean;
  reconcile: boolean;
  /** Its work is checked, so that its steps count in the monitors of retries. */
  evaluates: boolean;
  schema_hash: string;
  /** Another agent does its work, as a run of its own that draws on this one's budget. */
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
  /** The exact bytes that the attempt gets to see; empty when there are no rows. */
  text: string;
}

/** Limits that the run enforces on a call, each with the failure it comes from. */
export interface Constraints {
  max_output_bytes?: number;
  timeout_ms?: number;
  page_size?: number;
  /** Names of arguments that must not be given any more. */
  denied_arguments?: string[];
  denied_hosts?: string[];
  origins?: ConstraintOrigin[];
}
export interface ConstraintOrigin {
  constraint: 'max_output_bytes' | 'timeout_ms' | 'page_size' | 'denied_arguments' | 'denied_hosts';
  failure_id: string;
  fingerprint: string;
}

/** Why an attempt is a retry, for a prompt that says what was missed. */
export interface RetryContext {
  category: FailureCategory;
  /** From 1. */
  retry: number;
  /** What a failure report listed as missing. */
  missed: string[];
  /** What the failed attempt said, where the detector found feedback in it. */
  feedback?: DetectedFeedback;
}

/** What the feedback detector found in a tool's output or message. */
export interface DetectedFeedback {
  feedback_type: string;
  confidence: number;
  /** The part of the text that told, short. */
  signal: string;
}

/** The prompt that an attempt really used, by artifact ids, where it asked for one to be enhanced. */
export interface PromptUse {
  original_id: string;
  enhanced_id: string;
  /** null when nothing was added. */
  diff_id: string | null;
  enhancement: string;
}

export interface KeptArtifact {
  artifact_id: string;
  /** `stdout`, `stderr`, `body`, `output`, or a tool's own word. */
  what: string;
  bytes: number;
}

/** One attempt, as it travels to the activity `tool.<name>`. */
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
  /** The input is what a model wrote: nothing in it is a pointer. */
  literal?: true;
  guidance: Guidance;
  constraints: Constraints;
  /** On retries, unless enhancement is off. */
  retry_context?: RetryContext;
  idempotency_key: string;
  timeout_ms: number;
  /** What the run has left of its time: nobody waits longer than that for a worker to take the call. */
  time_left_ms: number;
  /** The back-off that came before this attempt; what history's timers show, told where the attempt is. */
  waited_ms: number;
}

/** `unknown`: it was started and gave no answer, so nobody can tell whether its effect happened. */
export type Certainty = 'not_started' | 'failed' | 'unknown';
export type Origin = 'tool' | 'infrastructure';

/** What an attempt can tell beside its end, whichever it was. */
export interface ToldByAttempt {
  /** What the tool says it did differently (`ctx.changed`). */
  changed?: string;
  prompt?: PromptUse;
  /** What the tool's `probe` saw after the call, as a hash: a changed one is progress. */
  probe_hash?: string;
  detected?: DetectedFeedback;
  /** What it left in the store beside its output: the bytes of a command, or an output before it was shortened. */
  kept?: KeptArtifact[];
  /** What a retrieval asked for and the chunks that it gave. */
  query?: string;
  chunk_ids?: string[];
  tokens?: number;
  cost_micro_usd?: number;
  /** The model that the work asked by itself. */
  model?: string;
  /** Models that were asked on the way. */
  model_calls?: number;
  /** How long it waited for people, which does not count as the run's time. */
  person_ms?: number;
}

export interface CallSucceeded extends ToldByAttempt {
  class: 'ok';
  /** null when it was too large to travel: then the store has it under `artifact_id`. */
  output: Json;
  inline: boolean;
  artifact_id: string;
  bytes: number;
  duration_ms: number;
  /** The store was away, so a large output could not be kept: the step succeeded, its output is gone. */
  unsaved?: true;
}
export interface CallFailed extends ToldByAttempt {
  class: 'failed';
  certainty: Certainty;
  origin: Origin;
  category: FailureCategory;
  error_code: string;
  message_preview: string;
  /** JSON paths of what broke a schema, for `fix_schema` and `change_arguments`. */
  paths?: string[];
  retry_after_ms?: number;
  /** What a failure report listed as missing. */
  missed?: string[];
  /** What a model said that could not be used, as an artifact: its next attempt mends it. */
  repair?: string;
  /** The run's budget leaves no room for this: it ends there, and nothing was sent. */
  over_budget?: 'tokens' | 'cost_micro_usd';
  /** The cap that the output broke. */
  max_bytes?: number;
  /** What the tool's own rules refuse for good: it becomes a constraint. */
  denied?: { argument?: string; host?: string };
  duration_ms: number;
}
export interface CallCancelled {
  class: 'cancelled';
  /** What a turn had reserved when it was stopped: nobody can tell how much of it was used. */
  tokens?: number;
  cost_micro_usd?: number;
  duration_ms: number;
}
export type CallOutcome = CallSucceeded | CallFailed | CallCancelled;

/** What a tool's `reconcile` found out about an attempt that gave no answer. */
export type ReconcileOutcome =
  | { verdict: 'done'; output: Json; artifact_id: string; inline: boolean; bytes: number }
  | { verdict: 'not_done' }
  | { verdict: 'unknown' };
