import type { Json } from './json.ts';
import type { Policy, PolicyPatch } from './schemas/policy.ts';
import type { Plan } from './schemas/plan.ts';
import type { StartMemory } from './lessons.ts';
import type { ToolManifest } from './tools.ts';

/** The version of `RunState`; core/run/upgrades.ts has its history. */
export const STORY_VERSION = 2;

/** The most that a run can take, computed before it starts; the run never exceeds any figure of it. */
export interface Bound {
  loops: number;
  steps: number;
  attempts: number;
  model_calls: number;
  tokens: number;
  /** null: no prices are known and no cap is set, so no honest figure can be given. */
  cost_micro_usd: number | null;
  wait_ms: number;
}

/** What a person asks for, at any door. */
export interface RunRequest {
  agent: string;
  goal: string;
  input?: Json;
  plan?: Plan;
  policy?: PolicyPatch;
  run_id?: string;
  loop_id?: string;
  labels?: string[];
  parent_run_id?: string;
}

/** A request with everything resolved: what the run keeps for its whole life. */
export interface PreparedRun {
  run_id: string;
  agent: string;
  goal: string;
  input: Json;
  /** `given`: the steps are fixed in `plan`. `chooses`: the agent's planner or model decides each next batch. */
  planner: 'given' | 'chooses';
  plan: Plan | null;
  /** What it hands back has a schema: nothing else may stand in for it. */
  typed_output?: true;
  /** The model that chooses, by name; null for a planner in code and for a given plan. */
  model: string | null;
  /** `rules` costs nothing; `own` is a function of the agent's, called as an activity; `model` is one that asks a model. */
  reviewer: 'rules' | 'own' | 'model';
  policy: Policy;
  manifest: ToolManifest;
  /** Of an agent that others work for: what the bound has to know of them. */
  helpers?: Helpers;
  bound: Bound;
  loop_id: string;
  labels: string[];
  parent_run_id: string | null;
  /** What the memory beyond runs had to say at the start. */
  memory: StartMemory;
}

/** The agents that a run may start runs of, all together, theirs included. */
export interface Helpers {
  asks_model: boolean;
  /** The longest wait per call that any of their policies allows. */
  wait_per_call_ms: number;
}

/** Why a request cannot become a run: JSON paths and what to do. */
export interface RequestProblem {
  path: string;
  message: string;
}
export type PrepareOutcome =
  | { ok: true; prepared: PreparedRun; search_attributes?: boolean }
  | { ok: false; problems: RequestProblem[] };

export type RunLifeState = 'running' | 'backing_off' | 'waiting_for_human' | 'reviewing' | 'stopping' | 'ended';
export type RunOutcome = 'completed' | 'finalized' | 'system_error' | 'budget_exhausted' | 'cancelled';

/** The six things a run can use up. `seconds` leaves out the time spent waiting for a person. */
export interface Amounts {
  steps: number;
  attempts: number;
  model_calls: number;
  tokens: number;
  cost_micro_usd: number;
  seconds: number;
}
export type AmountLimits = { [K in keyof Amounts]: number | null };

export const DECISIONS = ['retry', 'skip', 'stop', 'correct', 'approve', 'deny'] as const;
export type Decision = (typeof DECISIONS)[number];

export interface PendingQuestion {
  question_id: string;
  text: string;
  fingerprint?: string;
  /** What was tried before asking, one line an attempt. */
  tried: string[];
  options: Decision[];
  asked_at: string;
  deadline: string;
}

/** How a question came to its end. The four are different facts, and the model is told which one it was. */
export type AnswerKind = 'answered' | 'denied' | 'timed_out' | 'policy';

/** The workflow's result: the run's typed ending. */
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
  /** How often people were asked, by its sub-runs too. */
  questions: number;
  failures: { total: number; active: number; by_signal: Record<string, number> };
  /** What could not be written to the store before the end; zero when all is safe. */
  unsaved: { records: number; archive: boolean };
  started_at: string;
  ended_at: string;
}

/** The answer of GET /v1/runs/{run_id} and of the query `status`. */
export interface RunStatus {
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
  /** Set when prompts of retries are not enhanced for this agent any more, and why. */
  enhancement?: string;
  result?: RunResult['result'];
  started_at: string;
  updated_at: string;
}
