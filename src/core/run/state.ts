import type { SharedEffect, UnknownEffect } from '../../protocol/effects.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { GuardDecision } from '../../protocol/guard-decisions.ts';
import type { FeedbackEntry, LearntLesson, LessonUse, RunLesson, StepEvaluation } from '../../protocol/lessons.ts';
import type { FeedbackMessage } from '../../protocol/messages.ts';
import type { ArchivedStep, FailureRevision, TextArtifact } from '../../protocol/records.ts';
import { type PreparedRun, type RunResult, STORY_VERSION } from '../../protocol/run.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { isoTime } from '../../protocol/time.ts';
import { emptyFailureMemory, type FailureMemory } from '../failures/folded-failure.ts';
import { type LoopWatch, createLoopWatch } from '../failures/loop-watch.ts';
import { type GuardState, openFamily } from '../guardrails/guard-state.ts';
import type { Step } from './attempts.ts';
import { openEffects } from './known-effects.ts';
import { type Ledger, openLedger } from './ledger.ts';
import type { Life } from './life.ts';
import type { RerunReason } from './ports.ts';

/**
 * The whole state of a run between two awaits: plain JSON that is small enough to hand over and sufficient to continue
 * from. Changing its shape needs a new story version (upgrades.ts).
 */
export interface RunState {
  story_version: number;
  run: PreparedRun;
  life: Life;
  started_at: number;
  updated_at: number;
  ledger: Ledger;
  failures: FailureMemory;
  lessons: KnownLessons;
  loop: LoopState;
  earlier: EarlierLoops;
  /** Which effects have happened, and which may have. */
  effects: KnownEffects;
  people: PeopleMessages;
  /** The guardrails of this run's family of loops: counts, overrides, and the decision after each loop. */
  guard: GuardState;
  outbox: Outbox;
}

export interface LoopState {
  loop_id: string;
  /** The number of planner turns in this loop. */
  turn: number;
  /** Usage of the most expensive turn so far; the next one may use as much. */
  most_expensive: { tokens: number; cost_micro_usd: number };
  /** Steps that have ended, in step order. */
  steps: Step[];
  /** Steps under way; empty between batches. */
  batch: Step[];
  output: Json | null;
  /** What the planner wrote in its latest turn; absent if it wrote nothing. People see it beside a question about its calls. */
  said?: string;
  /** The id of the index of a model's conversation, and the last step that the conversation includes. */
  transcript: string | null;
  told_step_id: number;
  /** Repetitions among the calls that the planner chose. */
  watch: LoopWatch;
  /** Set for a rerun: what the review of the previous loop missed. */
  rerun?: RerunReason;
}

/** The parts of earlier loops that are kept. */
export interface EarlierLoops {
  /** Short descriptions of their steps, for the archive; only the latest when there are many. */
  steps: ArchivedStep[];
  /** The result of the loop with the best review so far. A run that a guard stops returns it. */
  best: { alignment_score: number; drift_score: number; result: RunResult['result'] } | null;
}

export interface KnownLessons {
  /** Lessons of earlier runs: those read at the start, and those recalled since. */
  known: RunLesson[];
  /** Fingerprints that the memory was asked about, each once, and the lessons it answered with. */
  asked: { fingerprint: string; reflection_ids: number[] }[];
  /** Lessons whose trial this run has given its observation to. */
  tried?: number[];
}

/** Messages from people, except answers and overrides, which take effect at once. */
export interface PeopleMessages {
  feedback: KeptFeedback[];
  /** The goal including what feedback asked for; null while no feedback has changed it. */
  refined_goal: string | null;
  /** The latest corrections, oldest first. Absent while there is none. */
  corrections?: Correction[];
  /** Questions that have been answered, timed out or were dropped. */
  closed_questions: string[];
  /** Signals that could not be used. They are kept so that people can see them, and have no effect. */
  ignored: { type: string; reason: string; at: number }[];
}

/** A text with which a person corrected a step, or let another pass start. */
export interface Correction {
  by: string;
  text: string;
  /** What it is about, as the condition of its row of guidance. */
  about: string;
  /** The tool of the corrected step; null when it is about a whole pass. */
  tool_name: string | null;
  /** Its own record, which points to the whole text. */
  failure_id: string;
  fingerprint: string;
  /** The fingerprint of the failure that was corrected, until a step succeeds. */
  of: string | null;
}

export interface KeptFeedback extends Omit<FeedbackMessage, 'type'> {
  feedback_type: string | null;
  at: number;
}

/** What the run knows about effects. Sub-runs get the first three with their start and report their own. */
export interface KnownEffects {
  /** How many identical calls this run and its sub-runs have done, by call. */
  done: Record<string, number>;
  /** Effects that may have happened. An identical call does not run. */
  unknown: UnknownEffect[];
  /** Keys of effects that were unknown and that a person settled. */
  settled: string[];
  /** The highest fence that was handed out. */
  fence: number;
  /**
   * How many identical calls this pass has done, or got from an earlier pass, by call. The rest of `done` is of earlier
   * passes and can still answer a call. Absent in the first pass, except that of a sub-run that inherits such effects.
   */
  in_pass?: Record<string, number>;
  /** Side effects that are done. A later pass gets their output instead of repeating them. */
  kept: DoneEffect[];
}

export interface DoneEffect extends SharedEffect {
  /** The loop that did it, and the latest loop in which it answered a call. */
  loop_id: string;
  answered_in: string | null;
}

/** Data that waits to be written to the store. */
export interface Outbox {
  /** Ids of the failure records to write, oldest first. The record itself is with its attempt or in `records`. */
  unsaved: string[];
  /** Records that have no attempt in the state: notices, and records of steps that were dropped. */
  records: FailureRecord[];
  artifacts: TextArtifact[];
  revisions: FailureRevision[];
  /** Outputs of successful steps that are not in the store yet, by artifact id. */
  outputs: Record<string, { output: Json; bytes: number }>;
  outputs_bytes: number;
  lessons: LearntLesson[];
  /** Uses and evaluations wait for the next write and never start one. */
  lesson_uses: LessonUse[];
  evaluations: StepEvaluation[];
  feedback: FeedbackEntry[];
  /** Decisions of guards, which wait for the next write. Absent while there is none. */
  decisions?: GuardDecision[];
  /**
   * What the store did not take and only the history holds, counted. The next write that succeeds includes it. Absent when
   * there is nothing.
   */
  in_history?: InHistory;
  /** Outputs that are lost because the store stayed away and they were too large to travel. */
  lost: number;
}

export interface InHistory {
  /** Writes that failed. */
  writes: number;
  records: number;
  outputs: number;
}

export function openRun(run: PreparedRun, now: number): RunState {
  return {
    story_version: STORY_VERSION,
    run,
    life: { is: 'running' },
    started_at: now,
    updated_at: now,
    ledger: openLedger(),
    failures: emptyFailureMemory(),
    lessons: { known: run.memory.lessons, asked: [] },
    loop: openLoop(run.loop_id),
    earlier: { steps: [], best: null },
    effects: openEffects(run),
    people: { feedback: [], refined_goal: null, closed_questions: [], ignored: [] },
    guard: openRunFamily(run, now),
    outbox: emptyOutbox(0),
  };
}

export const openLoop = (loopId: string, rerun?: RerunReason): LoopState => ({
  loop_id: loopId,
  turn: 0,
  most_expensive: { tokens: 0, cost_micro_usd: 0 },
  steps: [],
  batch: [],
  output: null,
  transcript: null,
  told_step_id: 0,
  watch: createLoopWatch(),
  ...defined({ rerun }),
});

export const emptyOutbox = (lost: number): Outbox => ({
  unsaved: [],
  records: [],
  artifacts: [],
  revisions: [],
  outputs: {},
  outputs_bytes: 0,
  lessons: [],
  lesson_uses: [],
  evaluations: [],
  feedback: [],
  lost,
});

function openRunFamily(run: PreparedRun, now: number): GuardState {
  const limits = { max_reruns: run.policy.reruns.max_reruns, max_overrides: run.policy.humans.max_overrides };
  const opened = openFamily(run.loop_id, limits, isoTime(now));
  // A prepared run has been checked, so an id that cannot open a family is a bug.
  if (!opened.ok) throw new RangeError(opened.detail);
  return opened.state;
}
