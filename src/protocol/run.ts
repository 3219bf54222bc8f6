import type { EffectsReport, InheritedEffects } from './effects.ts';
import type { Json } from './json.ts';
import type { PendingQuestion } from './questions.ts';
import type { Policy, PolicyPatch } from './schemas/policy.ts';
import type { Plan } from './schemas/plan.ts';
import type { StartMemory } from './lessons.ts';
import type { ToolManifest } from './tools.ts';

/** The version of `RunState`; core/run/upgrades.ts has its history. */
export const STORY_VERSION = 3;

/** The most that a run can take, computed before it starts. The run never exceeds any of these numbers. */
export interface Bound {
  loops: number;
  steps: number;
  attempts: number;
  model_calls: number;
  tokens: number;
  /** null if no prices are known and no cap is set, because then the cost cannot be computed. */
  cost_micro_usd: number | null;
  wait_ms: number;
}

/** The request to start a run. */
export interface RunRequest {
  agent: string;
  goal: string;
  input?: Json;
  plan?: Plan;
  policy?: PolicyPatch;
  run_id?: string;
  loop_id?: string;
  labels?: string[];
  /** Whose run it is. A run sees only lessons of runs with the same tenant. */
  tenant?: string;
  parent_run_id?: string;
}

/** A request with everything resolved. The run keeps it until it ends. */
export interface PreparedRun {
  run_id: string;
  agent: string;
  goal: string;
  input: Json;
  /** `given`: the steps are fixed in `plan`. `chooses`: the agent's planner or model decides each next batch. */
  planner: 'given' | 'chooses';
  plan: Plan | null;
  /** The agent's output has a schema, so only output that fits it can be returned. */
  typed_output?: true;
  /** Name of the agent's model; null for a planner in code and for a given plan. */
  model: string | null;
  /**
   * `rules` is free; `own` is a function of the agent, called as an activity; `model` is a reviewer that asks a model.
   */
  reviewer: 'rules' | 'own' | 'model';
  policy: Policy;
  manifest: ToolManifest;
  /** Set if the agent can start runs of other agents: what the limit has to include for them. */
  helpers?: Helpers;
  bound: Bound;
  loop_id: string;
  labels: string[];
  /** Absent for a run without a tenant, which sees only lessons without one. */
  tenant?: string;
  parent_run_id: string | null;
  /** The contribution of earlier runs at the start. */
  memory: StartMemory;
  /** Of a run that works for another one: what that one knows about effects. */
  inherited?: InheritedEffects;
  /**
   * The run stores the input that a question is about. A run that an older build started has no such write in its history, so
   * it does not.
   */
  keeps_asked_inputs?: true;
}

/** All agents that a run may start runs of, directly or indirectly. */
export interface Helpers {
  asks_model: boolean;
  /** The longest wait per call that any of their policies allows. */
  wait_per_call_ms: number;
}

/** Why a request is refused: a JSON path, and what to change. */
export interface RequestProblem {
  path: string;
  message: string;
}
export type PrepareOutcome =
  | { ok: true; prepared: PreparedRun; search_attributes?: boolean }
  | { ok: false; problems: RequestProblem[] };

export type RunLifeState = 'running' | 'backing_off' | 'waiting_for_human' | 'reviewing' | 'stopping' | 'ended';
export type RunOutcome = 'completed' | 'finalized' | 'system_error' | 'budget_exhausted' | 'cancelled';

/** The six amounts that a run uses. `seconds` does not include the time spent waiting for a person. */
export interface Amounts {
  steps: number;
  attempts: number;
  model_calls: number;
  tokens: number;
  cost_micro_usd: number;
  seconds: number;
}
export type AmountLimits = { [K in keyof Amounts]: number | null };

/** Data that a run has and the store does not have yet, because the store did not answer. All of it except `lost` is in the run's history. */
export interface Unsaved {
  /** Failure records. */
  records: number;
  /** Outputs of tools. */
  outputs: number;
  /** The run has ended and its archive is not written yet. */
  archive: boolean;
  /** Outputs that will never be written: they were too large for the history when their worker had to stop. */
  lost?: number;
  /** Of a run that has ended: why its archive is not written yet. */
  why?: string;
}

/** The result of the workflow: how the run ended. */
export interface RunResult<Output = Json> {
  run_id: string;
  agent: string;
  outcome: RunOutcome;
  reason: string;
  why: string;
  result: { output: Output; artifact_id: string | null; loop_id: string } | null;
  loops: number;
  used: Amounts;
  bound: Bound;
  /** How many questions people were asked, including those of sub-runs. */
  questions: number;
  failures: { total: number; active: number; by_signal: Record<string, number> };
  /** Data that the store did not have when the run ended. It is written later, so the API answers with what is missing now. */
  unsaved: Unsaved;
  /** Side effects of unknown outcome; of a run that worked for another one, all that it found out about effects. */
  effects?: EffectsReport;
  started_at: string;
  ended_at: string;
}

/** What was decided about a run before it started. */
export interface RunFacts {
  labels: string[];
  /** Absent for a run without a tenant. */
  tenant?: string;
  /** The run that this one works for. */
  parent_run_id?: string;
  /** What its passes are judged by: alignment must reach its threshold, drift must not exceed it, and fatigue must stay below it. */
  thresholds: { alignment: number; drift: number; fatigue: number };
}

/**
 * The answer of GET /v1/runs/{run_id} and of the query `status`. The facts are absent if nobody knows them: an older build archived the
 * run, or no worker answers for it.
 */
export interface RunStatus extends Partial<RunFacts> {
  run_id: string;
  agent: string;
  goal: string;
  state: RunLifeState;
  outcome?: RunOutcome;
  loop_id: string;
  step_id: number;
  phase: string;
  attempt: number;
  guardrails: Record<string, Json>;
  budget: { limit: AmountLimits; used: Amounts; left: AmountLimits };
  /** Null when nobody knows it: a bare start that no worker has prepared, or a run that was closed from outside. */
  bound: Bound | null;
  failures: { total: number; active: number; by_signal: Record<string, number> };
  pending_question?: PendingQuestion;
  next_action: string;
  why: string;
  /** The reason why retries no longer enhance prompts for this agent, if they do not. */
  enhancement?: string;
  result?: RunResult['result'];
  unsaved: Unsaved;
  /** As in the result. */
  effects?: EffectsReport;
  started_at: string;
  updated_at: string;
}

/** What the archive keeps of the last status of a run, so that nobody has to replay a run that has ended to answer for it. */
export type FinalStatus = Pick<
  RunStatus,
  'loop_id' | 'step_id' | 'phase' | 'attempt' | 'guardrails' | 'budget' | 'enhancement'
>;
