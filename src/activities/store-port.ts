import type { KnownLesson, StartMemoryReader } from '../store/start-memory.ts';
import type { FeedbackEntry, LessonUse, StepEvaluation, ToolSchemas } from '../protocol/lessons.ts';
import type { ModelDelta } from '../protocol/model-delta.ts';
import type { GuardDecision } from '../protocol/guard-decisions.ts';
import type { FailureRevision } from '../protocol/records.ts';
import type { EndedRun } from '../store/run-metrics.ts';
import type { FailureRecord } from '../protocol/schemas/failure-record.ts';

/** The parts of a store that the activities use. The real implementation is src/store. */
export interface ActivityStore extends Partial<MemoryStore> {
  modelDeltas?: DeltaPort;
  records: {
    append(
      records: readonly FailureRecord[],
      options: { agent?: string | null; tenant?: string | null },
    ): Promise<{ refused: { failure_id: string | null; reason: string }[] }>;
  };
  revisions: {
    append(revisions: readonly (Omit<FailureRevision, 'revision_id'> & { by: string })[]): Promise<unknown>;
  };
  artifacts: {
    putMany(artifacts: readonly { id?: string; bytes: Uint8Array; media_type: string }[]): Promise<unknown>;
    get(id: string): Promise<{ bytes: Uint8Array; media_type: string } | null>;
    getMany(ids: readonly string[]): Promise<{ id: string; bytes: Uint8Array }[]>;
  };
  archivedRuns: {
    put(run: {
      run_id: string;
      agent: string;
      goal: string;
      outcome: string;
      summary: unknown;
      trace: unknown;
      labels: string[];
      started_at: string;
      ended_at: string;
    }): Promise<unknown>;
  };
}

/** Passes on what a model produces, to whoever watches the run. */
export interface DeltaPort {
  /** Whether anybody watches the run. */
  isWatched(runId: string): Promise<boolean>;
  send(runId: string, deltas: readonly ModelDelta[]): Promise<unknown>;
}

/** The memory that spans runs. Each part can be missing, because a run works without it. */
export interface MemoryStore {
  startMemory: Pick<StartMemoryReader, 'read'>;
  reflections: {
    persist(lesson: LessonToKeep): Promise<unknown>;
    recordUses(uses: readonly LessonUse[]): Promise<unknown>;
    /** Returns those claims that enough different runs agree on. */
    agreeOn(claimed: {
      run: {
        scope: 'agent' | 'global';
        agent: string;
        tenant: string | null;
        run_id: string;
        goal_hash: string;
        input_hash: string | null;
      };
      fingerprint: string;
      claims: readonly string[];
    }): Promise<string[]>;
    /** The schemas under which each of these lessons was learnt, the latest first. */
    schemasOf?(ids: readonly number[]): Promise<ReadonlyMap<number, ToolSchemas[]>>;
    recallForFailure(query: {
      scope: 'agent' | 'global';
      agent: string;
      tenant: string | null;
      error_type: string;
      fingerprint: string;
      tool_name?: string | null;
      error_text?: string;
      description: string;
      limit: number;
      timeout_ms: number;
    }): Promise<(KnownLesson & { reason?: string })[]>;
  };
  retryMonitors: { append(evaluations: readonly StepEvaluation[]): Promise<unknown> };
  feedbackLog: { append(entries: readonly FeedbackEntry[]): Promise<unknown> };
  biasCounts: {
    add(seen: { family: string; loop_id: string; tags: readonly string[]; tenant?: string | null }): Promise<unknown>;
  };
  guardDecisions: { append(decisions: readonly GuardDecision[], agent: string | null): Promise<unknown> };
  runMetrics: { put(run: EndedRun): Promise<unknown> };
  refusedParts: {
    put(
      parts: readonly { run_id: string; kind: string; part_id: string; reason: string }[],
    ): Promise<{ written: number }>;
  };
}

export interface LessonToKeep {
  scope: 'agent' | 'global';
  agent: string;
  tenant: string | null;
  error_type: string;
  error_signature: string;
  fingerprint: string;
  error_text?: string;
  error_code?: string;
  content: string;
  rationale: string;
  tags: string[];
  tools: string[];
  tool_schemas?: ToolSchemas;
  context: {
    error_signature: string;
    original_query: string;
    iteration_count: number;
    quality_improvement: number;
    reflection_context: string;
  };
  run_id: string;
  occurrence_id: string;
  similarity_threshold: number;
}
