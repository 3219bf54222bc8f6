import type { FailureRecord } from '../protocol/schemas/failure-record.ts';
import type { FailureRevision } from '../protocol/records.ts';

/** What the activities need from a store; the real one is src/store. */
export interface ActivityStore {
  records: {
    append(
      records: readonly FailureRecord[],
      options: { agent?: string | null },
    ): Promise<{ refused: { failure_id: string | null; reason: string }[] }>;
  };
  revisions: {
    append(revisions: readonly (Omit<FailureRevision, 'revision_id'> & { by: string })[]): Promise<unknown>;
  };
  artifacts: {
    putMany(artifacts: readonly { id?: string; bytes: Uint8Array; media_type: string }[]): Promise<unknown>;
    get(id: string): Promise<{ bytes: Uint8Array } | null>;
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
