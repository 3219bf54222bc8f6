import type { Json } from './json.ts';
import type { FeedbackEntry, LearntLesson, LessonUse, StepEvaluation } from './lessons.ts';
import type { FailureRecord } from './schemas/failure-record.ts';
import type { RunResult } from './run.ts';

/** Text that a record or a manifest points to; its id is the sha256 of the text. */
export interface TextArtifact {
  id: string;
  text: string;
}

export interface HeldOutput {
  id: string;
  output: Json;
}

/** How a shown row of guidance turned out, or how a failure came to rest: appended, never changed. */
export interface FailureRevision {
  revision_id: string;
  run_id: string;
  fingerprint: string;
  /** The latest occurrence that this speaks of. */
  failure_id: string;
  kind: 'resolved' | 'superseded' | 'shown_helpful' | 'shown_harmful';
  step_id: number;
  attempt: number;
  created_at: string;
}

/** One write of the activity `record`; every part of it may arrive twice and counts once. */
export interface RecordBatch {
  run_id: string;
  agent: string;
  records: FailureRecord[];
  revisions: FailureRevision[];
  artifacts: TextArtifact[];
  /** Outputs of steps by artifact id; the id is the sha256 of their canonical JSON, which the activity makes. */
  outputs: HeldOutput[];
  lessons: LearntLesson[];
  lesson_uses: LessonUse[];
  evaluations: StepEvaluation[];
  feedback: FeedbackEntry[];
}

/** One finished step as the archive keeps it. */
export interface ArchivedStep {
  loop_id: string;
  step_id: number;
  phase: string;
  tool: string;
  status: string;
  attempts: number;
  artifact_id: string | null;
}

/** The one write at the end of a run, for when Temporal's retention has passed. */
export interface RunArchive {
  run_id: string;
  agent: string;
  goal: string;
  labels: string[];
  result: RunResult;
  steps: ArchivedStep[];
  trace: Json[];
  /** Whatever was still in the outbox travels along, so that an ending is one write. */
  pending: RecordBatch;
}

export type SaveOutcome = { saved: true } | { saved: false; reason: string };
