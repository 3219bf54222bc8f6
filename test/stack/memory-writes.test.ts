/** Needs Postgres. Shows the activities that write and read the memory beyond runs, against the real store. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createRecallActivities } from '../../src/activities/recall.ts';
import { createRecordActivities } from '../../src/activities/records.ts';
import type { ActivityStore } from '../../src/activities/store-port.ts';
import { errorSignature } from '../../src/core/lessons/signature.ts';
import { sha256Hex } from '../../src/protocol/ids.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { FeedbackEntry, LearntLesson, RecallQuery, StepEvaluation } from '../../src/protocol/lessons.ts';
import type { FailureRevision, RecordBatch, RunArchive } from '../../src/protocol/records.ts';
import { createStore } from '../../src/store/store.ts';
import { attemptsOf } from '../unit/core/retry/evaluations.ts';
import { failureRecord, openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const lesson = (over: Partial<LearntLesson> = {}): LearntLesson => ({
  occurrence_id: 'run-1:s1:a2:lesson',
  scope: 'agent',
  error_type: 'tool_error',
  fingerprint: 'fp1:tool_error:ledger:ETIMEDOUT:1',
  content: 'If ledger fails with ETIMEDOUT, then what worked was pages of 50.',
  context: 'step 1 (read) of run run-1',
  query: 'sum the invoices',
  iteration: 2,
  quality_delta: 1,
  tools: ['ledger'],
  similarity_threshold: 0.85,
  ...over,
});
const evaluation = (run_id: string, agent: string): StepEvaluation => ({
  run_id,
  step_id: 1,
  agent,
  model: null,
  subject: 'input',
  attempts: attemptsOf(['validation_grounding', 'ok']),
  created_at: timeAt(0),
});
const feedback = (run_id: string): FeedbackEntry => ({
  entry_id: `${run_id}:feedback:1`,
  run_id,
  timestamp: timeAt(0),
  original_prompt: 'sum the invoices',
  feedback_type: 'user_rejection',
  feedback_signal: 'wrong year',
  actions_applied: ['request_clarification'],
  refined_prompt: 'sum the invoices of 2026',
  iteration: 1,
  success: true,
});
const revision = (run_id: string): FailureRevision => ({
  revision_id: `${run_id}:r`,
  run_id,
  fingerprint: 'fp1:tool_error:search:0011',
  failure_id: `${run_id}:s1:a1:f1`,
  kind: 'resolved',
  step_id: 1,
  attempt: 2,
  created_at: timeAt(1),
});
const batchOf = (run_id: string, over: Partial<RecordBatch> = {}): RecordBatch => ({
  run_id,
  agent: `agent-of-${run_id}`,
  records: [failureRecord({ run_id, failure_id: `${run_id}:s1:a1:f1` })],
  revisions: [revision(run_id)],
  artifacts: [{ id: sha256Hex(run_id), text: run_id }],
  outputs: [],
  lessons: [lesson({ occurrence_id: `${run_id}:lesson` })],
  lesson_uses: [],
  evaluations: [evaluation(run_id, `agent-of-${run_id}`)],
  feedback: [feedback(run_id)],
  ...over,
});

function listening(store: ActivityStore = test.store) {
  const lines: [string, Record<string, unknown>][] = [];
  const log = { warn: (message: string, fields: Record<string, unknown>) => void lines.push([message, fields]) };
  return { lines, ...createRecordActivities(store, undefined, log), ...createRecallActivities(store, log, 500) };
}
const lessonsOf = (agent: string) => test.store.reflections.search({ agent });
const count = async (text: string, value: string): Promise<number> =>
  (await test.query<{ n: number }>(`select count(*)::int as n from ${text}`, [value]))[0]?.n ?? -1;

describe('what a run writes', () => {
  it('is kept in the form that the seed gives a lesson, with the uses of lessons, evaluations and feedback', async () => {
    const { record, lines } = listening();
    const batch = batchOf('whole');
    await record(batch);
    const [kept] = await lessonsOf(batch.agent);
    const { content, error_type, context, query } = lesson();
    const signature = errorSignature(error_type, content ?? '');
    expect(kept).toMatchObject({
      category: 'reflection',
      content,
      error_signature: signature,
      fingerprint: lesson().fingerprint,
      rationale: `Self-correction during: ${context}`,
      tags: ['reflection', 'self-correction', 'tool_error', `sig:${signature}`],
      tools: ['ledger'],
      context: {
        error_signature: signature,
        original_query: query,
        iteration_count: 2,
        quality_improvement: 1,
        reflection_context: context,
      },
    });
    const use = { use_id: 'whole:use', reflection_id: kept?.id ?? 0, run_id: 'whole', succeeded: true };
    await record(batchOf('whole', { lesson_uses: [use] }));
    expect(await test.store.reflections.get(kept?.id ?? 0)).toMatchObject({ succeeded_count: 1, occurrence_count: 1 });
    expect(await test.store.retryMonitors.recent({ agent: batch.agent })).toMatchObject([
      { attempts: 2, final_ok: true },
    ]);
    const { entry_id: _id, ...entry } = feedback('whole');
    expect((await test.store.feedbackLog.list({ run_id: 'whole' })).items).toEqual([{ ...entry, source: 'person' }]);
    expect(await test.store.failureStatus.forRun('whole')).toMatchObject([{ status: 'resolved' }]);
    expect(lines).toEqual([]);
  });

  it('counts once, however many workers write it at once', async () => {
    const { record } = listening();
    const batch = batchOf('crowd');
    await Promise.all(Array.from({ length: 20 }, () => record(batch)));
    expect(await lessonsOf(batch.agent)).toMatchObject([{ occurrence_count: 1 }]);
    for (const table of ['failure_records', 'failure_revisions', 'retry_monitors', 'feedback_log']) {
      expect([table, await count(`${table} where run_id = $1`, 'crowd')]).toEqual([table, 1]);
    }
  });

  it('is cleaned where that is enough', async () => {
    const { record, lines } = listening();
    const content = `If a\0 fails \uD800, then ${'x'.repeat(9_000)}`;
    await record(batchOf('cleaned', { lessons: [lesson({ occurrence_id: 'cleaned:l', content })] }));
    const [kept] = await lessonsOf('agent-of-cleaned');
    expect(kept?.content).toHaveLength(3_999);
    expect(kept?.content.startsWith('If a fails \uFFFD, then xxx')).toBe(true);
    expect(lines).toEqual([]);
  });

  it('loses only its bad parts: each is refused once, with a reason that is kept, and the others go in', async () => {
    const { record, archive, lines } = listening();
    const run_id = 'poison';
    const batch = batchOf(run_id, {
      records: [
        { ...failureRecord({ run_id, failure_id: 'poison:bad' }), step_id: -1 },
        failureRecord({ run_id, failure_id: 'poison:good' }),
      ],
      revisions: [{ ...revision(run_id), revision_id: 'poison:r:bad', step_id: -5 }, revision(run_id)],
      lessons: [lesson({ occurrence_id: 'poison:l:bad', content: '' }), lesson({ occurrence_id: 'poison:l:good' })],
      lesson_uses: [{ use_id: 'poison:u:bad', reflection_id: 999_999_999, run_id, succeeded: true }],
      evaluations: [
        { ...evaluation(run_id, 'poisoned'), attempts: [] },
        { ...evaluation(run_id, 'poisoned'), step_id: 2 },
      ],
      feedback: [
        { ...feedback(run_id), entry_id: 'poison:f:bad', timestamp: 'yesterday' },
        { ...feedback(run_id), entry_id: 'poison:f:huge', iteration: 3e9 },
        feedback(run_id),
      ],
    });
    await record(batch);
    const refused = [
      ['records', 'poison:bad', /^step_id: /],
      ['revisions', 'poison:r:bad', /^step_id: /],
      ['lessons', 'poison:l:bad', /^content: /],
      ['lesson_uses', 'poison:u:bad', /^reflection_id: there is no such/],
      ['evaluations', 'poison:1', /^attempts: /],
      ['feedback', 'poison:f:bad', /not an ISO 8601 time/],
      ['feedback', 'poison:f:huge', /out of range/],
    ] as const;
    const kept = await test.store.refusedParts.forRun(run_id);
    expect(kept).toMatchObject(
      refused.map(([kind, part_id, reason]) => ({ kind, part_id, reason: expect.stringMatching(reason) })),
    );
    expect(lines.map(([message, { kind, part_id }]) => [message, kind, part_id])).toEqual(
      refused.map(([kind, part_id]) => ['record_refused', kind, part_id]),
    );
    expect(await test.store.records.forRun(run_id)).toMatchObject([{ failure_id: 'poison:good' }]);
    expect(await test.store.revisions.forRun(run_id)).toHaveLength(1);
    expect(await lessonsOf(batch.agent)).toMatchObject([{ occurrence_count: 1 }]);
    expect(await test.store.retryMonitors.recent({ agent: 'poisoned' })).toMatchObject([{ step_id: 2 }]);
    expect((await test.store.feedbackLog.list({ run_id })).items).toHaveLength(1);

    // Written again, as Temporal may: nothing is told twice, nothing is counted twice, and the run's end is kept.
    await archive(archiveOf(run_id, batch));
    expect(lines).toHaveLength(refused.length);
    expect(await test.store.refusedParts.forRun(run_id)).toEqual(kept);
    expect(await test.store.archivedRuns.get(run_id)).toMatchObject({ outcome: 'completed' });
  });

  it('waits for another try when a part of the store is away, and every other part has had its turn by then', async () => {
    const away = Object.assign(new Error('Postgres cannot be reached'), { code: 'STORE_UNREACHABLE' });
    const half: ActivityStore = { ...test.store, retryMonitors: { append: () => Promise.reject(away) } };
    const { record, archive, lines } = listening(half);
    await expect(record(batchOf('half'))).rejects.toBe(away);
    expect((await test.store.feedbackLog.list({ run_id: 'half' })).items).toHaveLength(1);
    await expect(archive(archiveOf('half', batchOf('half')))).rejects.toBe(away);
    expect(await test.store.archivedRuns.get('half')).not.toBeNull();
    expect(lines).toEqual([]);
  });

  it('counts the biases of its passes for policies that count globally, once per pass', async () => {
    const { archive } = listening();
    const trace: Json[] = [
      { loop_id: 'biased', bias_tags: ['optimism', 'anchoring'] },
      { loop_id: 'biased_r1', bias_tags: ['optimism'] },
      { loop_id: 'biased_r2', bias_tags: null },
    ];
    for (let time = 0; time < 2; time += 1) await archive({ ...archiveOf('biased', batchOf('biased')), trace });
    expect(await test.store.biasCounts.ofFamily('biased')).toEqual({ anchoring: 1, optimism: 2 });
    expect(await test.store.biasCounts.elsewhere('another')).toMatchObject({ anchoring: 1, optimism: 2 });
    expect(await test.store.biasCounts.elsewhere('another', 'acme')).toEqual({});
  });
});

const archiveOf = (run_id: string, pending: RecordBatch): RunArchive => ({
  run_id,
  agent: pending.agent,
  goal: 'sum the invoices',
  labels: [],
  result: {
    run_id,
    agent: pending.agent,
    outcome: 'completed',
    reason: 'thresholds_met',
    why: 'all of its work is done',
    result: null,
    loops: 1,
    questions: 0,
    used: { steps: 1, attempts: 1, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 1 },
    bound: { loops: 1, steps: 1, attempts: 1, model_calls: 0, tokens: 0, cost_micro_usd: null, wait_ms: 0 },
    failures: { total: 0, active: 0, by_signal: {} },
    unsaved: { records: 0, outputs: 0, archive: false },
    started_at: timeAt(0),
    ended_at: timeAt(9),
  },
  steps: [],
  trace: [],
  pending,
});

describe('the recall of a failure', () => {
  const asking = (over: Partial<RecallQuery> = {}): RecallQuery => ({
    run_id: 'run-2',
    agent: 'agent-of-recalled',
    scope: 'agent',
    error_type: 'tool_error',
    fingerprint: lesson().fingerprint,
    description: 'If ledger fails with ETIMEDOUT',
    similarity_threshold: 0.85,
    ...over,
  });

  it('gives what another run learnt, by its fingerprint or by its words, at most five and each of them capped', async () => {
    const { record, recall } = listening();
    const long = `If ledger fails with ETIMEDOUT, then what worked was ${'patience '.repeat(100)}`;
    const lessons = Array.from({ length: 7 }, (_, n) =>
      lesson({
        occurrence_id: `recalled:${n}`,
        content: `${n} ${long} ${'different '.repeat(n * 9)}`,
        similarity_threshold: 1,
      }),
    );
    await record(batchOf('recalled', { lessons }));
    const found = await recall(asking());
    expect(found).toHaveLength(5);
    expect(found[0]).toEqual({
      reflection_id: expect.any(Number),
      content: `6 ${long}`.slice(0, 400),
      tools: ['ledger'],
      fingerprint: lesson().fingerprint,
      trial: { status: 'candidate', phase: '0' },
    });
    expect(await recall(asking({ fingerprint: 'fp1:new' }))).toHaveLength(5);
    expect(await recall(asking({ fingerprint: 'fp1:new', description: 'If mailer fails with EAUTH' }))).toEqual([]);
  });

  it('is empty and logged when the store cannot be reached', async () => {
    const away = createStore('postgres://nobody:nothing@127.0.0.1:1/nowhere');
    const { recall, lines } = listening(away);
    expect(await recall(asking())).toEqual([]);
    expect(lines).toEqual([
      [
        'recall_failed',
        expect.objectContaining({ run_id: 'run-2', reason: expect.stringContaining('cannot be reached') }),
      ],
    ]);
    await away.close();
  });

  it('is empty and logged when the store takes too long, and the server stops searching too', async () => {
    const { recall, lines } = listening();
    await test.query('begin');
    await test.query('lock table reflections in access exclusive mode');
    // The lock is held until the test lets it go, so an answer means that the search was given up.
    expect(await recall(asking())).toEqual([]);
    const searching = async (): Promise<number> => {
      // Within a transaction the first look at the others would be the last.
      await test.query('select pg_stat_clear_snapshot()');
      const others = `datname = current_database() and pid <> pg_backend_pid() and state = 'active'`;
      return count(`pg_stat_activity where ${others} and query like $1`, '%reflection_current%');
    };
    await expect.poll(searching).toBe(0);
    await test.query('rollback');
    expect(lines).toHaveLength(1);
    expect((await recall(asking())).length).toBeGreaterThan(0);
  });
});
