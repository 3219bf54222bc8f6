import type { Json } from './json.ts';
import type { GuardDecision } from './guard-decisions.ts';
import type { FeedbackEntry, LearntLesson, LessonUse, StepEvaluation } from './lessons.ts';
import type { FailureRecord } from './schemas/failure-record.ts';
import type { FinalStatus, RunFacts, RunResult } from './run.ts';
import type { RunFigures } from './run-metrics.ts';

/** A text that a record or a manifest refers to. Its id is the sha256 of the text. */
export interface TextArtifact {
  id: string;
  text: string;
}

export interface HeldOutput {
  id: string;
  output: Json;
}

/** A change of a failure's status, or of how useful its guidance was. Revisions are appended and never changed. */
export interface FailureRevision {
  revision_id: string;
  run_id: string;
  fingerprint: string;
  /** The latest occurrence of the failure at that time. */
  failure_id: string;
  kind: 'resolved' | 'superseded' | 'shown_helpful' | 'shown_harmful';
  step_id: number;
  attempt: number;
  created_at: string;
}

/** One write of the activity `record`. A part that arrives twice counts once. */
export interface RecordBatch {
  run_id: string;
  agent: string;
  /** Absent for a run without a tenant. */
  tenant?: string;
  records: FailureRecord[];
  revisions: FailureRevision[];
  artifacts: TextArtifact[];
  /** Outputs of steps. The id is the sha256 of the canonical JSON, which the activity computes. */
  outputs: HeldOutput[];
  lessons: LearntLesson[];
  lesson_uses: LessonUse[];
  evaluations: StepEvaluation[];
  feedback: FeedbackEntry[];
  /** Absent when no guard decided anything. */
  decisions?: GuardDecision[];
  /** Also writes what earlier writes of this run could not: it is in the run's history. */
  from_history?: true;
}

/** One finished step in the archive. */
export interface ArchivedStep {
  loop_id: string;
  step_id: number;
  phase: string;
  tool: string;
  status: string;
  attempts: number;
  artifact_id: string | null;
  /** The artifact of its input, as the plan or the planner gave it. Absent if the state no longer had it. */
  input_id?: string;
}

/** One execution of a workflow, as Temporal names it. */
export interface Execution {
  workflowId: string;
  runId: string;
}

/** The write at the end of a run. It outlives Temporal's retention. */
export interface RunArchive {
  run_id: string;
  agent: string;
  goal: string;
  labels: string[];
  /** Absent for a run without a tenant. */
  tenant?: string;
  /** Absent in the history of an older build. */
  facts?: RunFacts;
  final?: FinalStatus;
  result: RunResult;
  steps: ArchivedStep[];
  /** The artifacts of the plan and the input that the run was started with. Absent for a run of an older build. */
  request?: { plan_id: string | null; input_id: string | null };
  trace: Json[];
  /** Absent in archives of runs that ended before there were figures. */
  figures?: RunFigures;
  /** The rest of the outbox, so that the end of a run needs only one write. */
  pending: RecordBatch;
}

/** `kept`: no write was made, so the outbox keeps what it has. Otherwise the history has what was to be written. */
export type SaveOutcome = { saved: true } | { saved: false; reason: string; kept?: true };
