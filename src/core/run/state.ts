import type { Json } from '../../protocol/json.ts';
import type { FeedbackEntry, LearntLesson, LessonUse, RunLesson, StepEvaluation } from '../../protocol/lessons.ts';
import type { FeedbackMessage } from '../../protocol/messages.ts';
import type { ArchivedStep, FailureRevision, TextArtifact } from '../../protocol/records.ts';
import type { Amounts, PendingQuestion, PreparedRun, RunLifeState, RunOutcome, RunResult } from '../../protocol/run.ts';
import { STORY_VERSION } from '../../protocol/run.ts';
import type { FailureRecord, OutcomeKind } from '../../protocol/schemas/failure-record.ts';
import type { Grant } from '../../protocol/sub-runs.ts';
import { isoTime } from '../../protocol/time.ts';
import type { CallFailed, CallSucceeded, Constraints, Mending } from '../../protocol/tools.ts';
import type { FailureMemory } from '../failures/folded-failure.ts';
import type { LoopWatch, Stall } from '../failures/loop-watch.ts';
import { emptyFailureMemory } from '../failures/folded-failure.ts';
import { openLoopWatch } from '../failures/loop-watch.ts';
import type { GuardState } from '../guardrails/guard-state.ts';
import { openFamily } from '../guardrails/guard-state.ts';
import type { Ledger } from './ledger.ts';
import type { RerunReason } from './ports.ts';
import { openLedger } from './ledger.ts';

/**
 * A run's whole memory between two awaits: plain JSON, small enough to travel with a hand-over, and enough to go on
 * from. Version history: 1 = first.
 */
export interface RunState {
  story_version: number;
  run: PreparedRun;
  state: RunLifeState;
  started_at: number;
  updated_at: number;
  ledger: Ledger;
  failures: FailureMemory;
  /** Of earlier runs: those it started with, and those recalled since. */
  lessons: RunLesson[];
  /** Which failures the memory was asked about, each once, and what it had to say. */
  recalled: { fingerprint: string; reflection_ids: number[] }[];
  /** The goal with what people's feedback asked for; null while nobody has said anything that changes it. */
  refined_goal: string | null;
  loop: LoopState;
  next_step_id: number;
  /** Steps of earlier loops, in a few words each; the latest of them when there are many. */
  past_steps: ArchivedStep[];
  /** The steps under way; empty between batches. */
  batch: StepInFlight[];
  question: OpenQuestion | null;
  questions_asked: number;
  /** Questions that sub-runs have asked, or may ask while they are under way. */
  questions_lent: number;
  /** Shares that runs which were started elsewhere have drawn and not given back. */
  loans: { sub_run_id: string; grant: Grant }[];
  answered_questions: string[];
  /** Side effects that succeeded: a later pass gets what they gave instead of doing them again. */
  effects: DoneEffect[];
  /** The family of this run's loops: counts, overrides, the decision after each. */
  guard: GuardState;
  feedback: KeptFeedback[];
  cancel: { by: string; reason: string; at: number } | null;
  outbox: Outbox;
  /** Signals that could not be understood: kept for people, without effect. */
  ignored_messages: { type: string; reason: string; at: number }[];
  /** The best loop so far, by its review: what a run that a guard stops hands back. */
  best: { alignment_score: number; drift_score: number; result: RunResult['result'] } | null;
  ending: Ending | null;
  result: RunResult | null;
}

export interface LoopState {
  loop_id: string;
  /** How often the planner has chosen in this loop. */
  turn: number;
  /** What the dearest turn so far used: what another one may be expected to. */
  dearest: { tokens: number; cost_micro_usd: number };
  results: StepResult[];
  output: Json | null;
  /** A model's conversation, by id, and the last step that it holds. */
  transcript: string | null;
  told_step_id: number;
  /** Calls that the planner chose, as far as repeating them goes. */
  watch: LoopWatch;
  /** The latest failed action of each tool, until a better one follows: what a lesson is learnt from. */
  failed: FailedAction[];
  /** Of a rerun: what the pass before it missed. */
  rerun?: RerunReason;
}

export interface DoneEffect {
  tool: string;
  input_hash: string;
  /** In a few words, for a planner. */
  told: string;
  artifact_id: string;
  bytes: number;
  /** The pass that did it, and the latest one that it has answered a call of. */
  loop_id: string;
  answered_in: string | null;
}

/** A failed attempt as the next one is compared with it. */
export interface FailedAction {
  tool: string;
  input_hash: string;
  /** Arguments that are short and plain enough to be told. */
  args: Record<string, string | number | boolean | null>;
  constraints: Constraints;
  prompt_id: string | null;
  changed: string | null;
  fingerprint: string;
  error_type: string;
  error_code: string;
  /** The advice was to go another way, so another tool that works is an answer to it. */
  use_other_tool: boolean;
}

export interface StepResult {
  step_id: number;
  /** Position in the given plan, or null for a chosen step. */
  plan_index: number | null;
  phase: string;
  tool: string;
  /** What a planner chose; null for a given plan, which has it already. */
  input: Json;
  status: StepStatus;
  /** The planner's turn that chose it. */
  turn?: number;
  /** The name that a model gave its call. */
  call_id?: string;
  attempts: number;
  artifact_id: string | null;
  error_code?: string;
  message_preview?: string;
  /** What the feedback detector found in its output. */
  detected?: string;
}

/**
 * `policy`: the policy decided, because no question was left. `cancelled`: it was under way when the run was. `guided`:
 * the call would have repeated itself once more and got guidance instead of running.
 */
export type StepStatus = 'ok' | 'failed' | 'skipped' | 'denied' | 'timed_out' | 'policy' | 'cancelled' | 'guided';

/** What happened to the failure memory during a step; folded in step order when the batch ends. */
export type MemoryEvent =
  | { kind: 'failure'; record: FailureRecord; query: string | null }
  | { kind: 'shown'; fingerprints: string[]; ok: boolean; failed_as: string | null; attempt: number; at: number }
  | { kind: 'passed'; input_hash: string | null; query: string | null; attempt: number; at: number };

/** A guarded unit of work: a tool call, or one turn of the planner, which fails and retries by the same rules. */
export interface StepInFlight {
  kind: 'tool' | 'planner';
  step_id: number;
  plan_index: number | null;
  phase: string;
  tool: string;
  input: Json;
  output_schema?: Json;
  /** What the tool's own `loopKey` says is asked for. */
  loop_key?: string;
  call_id?: string;
  /** What the attempt before said that could not be used. */
  repair: string | null;
  attempt: number;
  /** Attempts that the ledger lets this step have. */
  granted: number;
  /** A person allowed one more attempt: it gets no retries of its own. */
  single_attempt: boolean;
  retries_used: number;
  infrastructure_used: number;
  waited_ms: number;
  /** How long its sub-run waited for people: no time of the run's. */
  person_ms: number;
  /** A back-off that is due before the next attempt: the step was stopped by its share of the budget before it could wait. */
  owed_wait_ms: number;
  backing_off_until: number | null;
  correction: { text: string; by: string } | null;
  /** What the latest attempt was held to, and what it may tell the prompt of the next. */
  constraints: Constraints;
  mending: Mending | null;
  failed: FailedAction | null;
  /** Lessons that it asked for; the run's once it has ended. */
  recalled: RunLesson[];
  /** Attempts of a tool whose work is checked. */
  evaluated: StepEvaluation['attempts'];
  evaluated_model: string | null;
  events: MemoryEvent[];
  tried: string[];
  end: StepEnd | null;
}

export type StepEnd =
  | { kind: 'ok'; outcome: CallSucceeded }
  | { kind: 'cancelled' }
  | { kind: 'budget'; budget: keyof Amounts }
  | { kind: 'refused'; status: StepStatus }
  | { kind: 'guided'; stall: Stall }
  | { kind: 'stuck'; stall: Stall }
  | { kind: 'failed'; failure: CallFailed; observed: OutcomeKind; fingerprint: string | null; reason: string };

export interface OpenQuestion extends PendingQuestion {
  step_id: number;
  answer: { decision: PendingQuestion['options'][number]; text: string | null; by: string } | null;
}

export interface KeptFeedback extends Omit<FeedbackMessage, 'type'> {
  feedback_type: string | null;
  at: number;
}

export interface Outbox {
  records: FailureRecord[];
  revisions: FailureRevision[];
  artifacts: TextArtifact[];
  /** Outputs of successful steps that only this state holds so far, by artifact id. */
  outputs: Record<string, { output: Json; bytes: number }>;
  outputs_bytes: number;
  lessons: LearntLesson[];
  /** These wait for the next write; they never start one. */
  lesson_uses: LessonUse[];
  evaluations: StepEvaluation[];
  feedback: FeedbackEntry[];
  /** Records that were given up on after the store stayed away. */
  lost: number;
}

export interface Ending {
  outcome: RunOutcome;
  reason: string;
  why: string;
}

export function openRun(run: PreparedRun, now: number): RunState {
  return {
    story_version: STORY_VERSION,
    run,
    state: 'running',
    started_at: now,
    updated_at: now,
    ledger: openLedger(),
    failures: emptyFailureMemory(),
    lessons: run.memory.lessons,
    recalled: [],
    refined_goal: null,
    loop: openLoop(run.loop_id),
    next_step_id: 1,
    past_steps: [],
    batch: [],
    question: null,
    questions_asked: 0,
    questions_lent: 0,
    loans: [],
    answered_questions: [],
    effects: [],
    guard: familyOfRun(run, now),
    feedback: [],
    cancel: null,
    outbox: { ...emptyOutbox(), lost: 0 },
    ignored_messages: [],
    best: null,
    ending: null,
    result: null,
  };
}

export const emptyOutbox = (): Omit<Outbox, 'lost'> => ({
  records: [],
  revisions: [],
  artifacts: [],
  outputs: {},
  outputs_bytes: 0,
  lessons: [],
  lesson_uses: [],
  evaluations: [],
  feedback: [],
});

export const openLoop = (loopId: string): LoopState => ({
  loop_id: loopId,
  turn: 0,
  dearest: { tokens: 0, cost_micro_usd: 0 },
  results: [],
  output: null,
  transcript: null,
  told_step_id: 0,
  watch: openLoopWatch(),
  failed: [],
});

function familyOfRun(run: PreparedRun, now: number): GuardState {
  const limits = { max_reruns: run.policy.reruns.max_reruns, max_overrides: run.policy.humans.max_overrides };
  const opened = openFamily(run.loop_id, limits, isoTime(now));
  // A prepared run has been checked: an id that cannot open a family here is a bug, not an outcome.
  if (!opened.ok) throw new RangeError(opened.detail);
  return opened.state;
}

/** A state that an older version of the story handed over: what it did not know yet is empty. */
export const upToDate = (state: RunState): RunState => ({
  ...state,
  questions_lent: state.questions_lent ?? 0,
  loans: state.loans ?? [],
  effects: state.effects ?? [],
  loop: { ...state.loop, dearest: state.loop.dearest ?? { tokens: 0, cost_micro_usd: 0 } },
});

/** The end is decided once; what comes later cannot change why a run ended. */
export function endWith(state: RunState, ending: Ending): void {
  state.ending ??= ending;
}

export function budgetSpent(state: RunState, budget: string): void {
  endWith(state, {
    outcome: 'budget_exhausted',
    reason: budget,
    why: `the run has used up its budget of ${budget.replaceAll('_', ' ')}`,
  });
}
