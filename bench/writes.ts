/**
 * Measures how fast one worker writes rows: records in the batches of a run's outbox, and lessons with their
 * comparison.
 */
import { createRecordActivities } from '../src/activities/records.ts';
import type { RecordBatch } from '../src/protocol/records.ts';
import type { FailureRecord } from '../src/protocol/schemas/failure-record.ts';
import type { Store } from '../src/store/store.ts';
import { lessonTexts } from './lesson-texts.ts';
import type { Figures } from './report.ts';

const AT_ONCE = 10;

const record = (run_id: string, n: number): FailureRecord => ({
  failure_id: `${run_id}:s${n}:a1:f1`,
  run_id,
  step_id: n,
  phase: 'work',
  signal_type: 'tool_error',
  severity: 'medium',
  fingerprint: `fp1:tool_error:tool:E:${n % 5}`,
  attempted_action: {
    action_id: `${run_id}:s${n}`,
    tool_name: 'tool',
    tool_call_id: `${run_id}:s${n}:a1`,
    input_hash: 'ab',
  },
  observed_outcome: { kind: 'exception', error_code: 'E', message_preview: 'it was refused', duration_ms: 5 },
  recommended_adjustment: { type: 'set_timeout', tool_name: 'tool', timeout_ms: 2_000 },
  context_refs: { manifest_id: 'a'.repeat(64) },
  created_at: '2026-03-01T09:00:00.000Z',
});

const batchOf = (run_id: string, over: Partial<RecordBatch>): RecordBatch => ({
  run_id,
  agent: 'bench-writer',
  records: [],
  revisions: [],
  artifacts: [],
  outputs: [],
  lessons: [],
  lesson_uses: [],
  evaluations: [],
  feedback: [],
  ...over,
});

export async function benchWrites(store: Store, quick: boolean): Promise<Figures> {
  const { record: write } = createRecordActivities(store, undefined, {
    warn: (message) => {
      throw new Error(message);
    },
  });
  const rate = async (total: number, per: number, batch: (n: number) => RecordBatch): Promise<number> => {
    const startedAt = performance.now();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let n = (next += per); n <= total; n = next += per) await write(batch(n));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return total / ((performance.now() - startedAt) / 1_000);
  };
  const rows = quick ? 2_000 : 20_000;
  const lessons = lessonTexts(quick ? 200 : 2_000, 1_234);
  return {
    records_written_one_by_one_per_s: await rate(rows / 10, 1, (n) =>
      batchOf(`one-${n}`, { records: [record(`one-${n}`, n)] }),
    ),
    records_written_by_20_per_s: await rate(rows, 20, (n) =>
      batchOf(`twenty-${n}`, { records: Array.from({ length: 20 }, (_, index) => record(`twenty-${n}`, index)) }),
    ),
    lessons_written_per_s: await rate(lessons.length, 1, (n) => {
      const lesson = lessons[n - 1];
      if (lesson === undefined) throw new RangeError(`no lesson ${n}`);
      return batchOf(`lesson-${n}`, {
        lessons: [
          {
            occurrence_id: `lesson-${n}`,
            scope: 'agent',
            error_type: lesson.error_type,
            fingerprint: `fp1:written:${n}`,
            content: lesson.content,
            context: '',
            query: '',
            iteration: 1,
            quality_delta: 1,
            tools: [lesson.tool],
            similarity_threshold: 0.85,
          },
        ],
      });
    }),
  };
}
