/** A store on a database of its own, and records that differ only where a test says so. */
import { Client } from 'pg';
import { afterAll } from 'vitest';
import type { FailureRecord } from '../../src/protocol/schemas/failure-record.ts';
import { createStore } from '../../src/store/store.ts';
import type { Store } from '../../src/store/store.ts';
import { createTestDatabase } from '../support/stack.ts';

export interface StoreUnderTest {
  store: Store;
  databaseUrl: string;
  /** Past the store, as an operator with psql would. */
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
}

/** Closed after the last test of the file. */
export const openTestStore = async (): Promise<StoreUnderTest> => {
  const { databaseUrl } = await createTestDatabase();
  const store = createStore(databaseUrl);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  afterAll(async () => {
    await store.close();
    await client.end();
  });
  return {
    store,
    databaseUrl,
    query: async <Row>(text: string, values: unknown[] = []) => (await client.query(text, values)).rows as Row[],
  };
};

const START = Date.parse('2026-03-01T09:00:00.000Z');
export const timeAt = (offsetMs: number): string => new Date(START + offsetMs).toISOString();

export const failureRecord = (over: Partial<FailureRecord> = {}): FailureRecord => ({
  failure_id: 'run-1:s1:a1:f1',
  run_id: 'run-1',
  step_id: 1,
  phase: 'research',
  signal_type: 'tool_error',
  severity: 'medium',
  fingerprint: 'fp1:tool_error:search:0011',
  attempted_action: { action_id: 'run-1:s1', tool_name: 'search', tool_call_id: 'run-1:s1:a1', input_hash: 'ab12' },
  observed_outcome: { kind: 'exception', error_code: 'ECONNRESET', message_preview: 'socket hang up', duration_ms: 12 },
  recommended_adjustment: { type: 'set_timeout', tool_name: 'search', timeout_ms: 2_000 },
  context_refs: { manifest_id: 'a'.repeat(64), artifact_ids: ['b'.repeat(64)], span: [0, 12] },
  created_at: timeAt(0),
  ...over,
});
