/** Needs Postgres. Shows the feedback log, the counts of bias tags and the retry monitors. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { FeedbackLogEntry } from '../../src/store/feedback-log.ts';
import type { RetryEvaluation } from '../../src/store/retry-monitors.ts';
import { openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const entry = (over: Partial<FeedbackLogEntry> = {}): FeedbackLogEntry => ({
  timestamp: timeAt(0),
  original_prompt: 'review the code',
  feedback_type: 'user_rejection',
  feedback_signal: 'wrong, I meant a security review',
  actions_applied: ['request_clarification'],
  refined_prompt: 'review the code\n\nTo clarify the goal: security',
  iteration: 1,
  success: true,
  run_id: null,
  ...over,
});

describe('the feedback log', () => {
  it('gives entries back in the shape in which they were logged, last written first', async () => {
    const [first, second] = [entry({ run_id: 'log-1' }), entry({ run_id: 'log-1', iteration: 2, actions_applied: [] })];
    await test.store.feedbackLog.append([first, second]);
    expect((await test.store.feedbackLog.list({ run_id: 'log-1' })).items).toStrictEqual([second, first]);
  });

  it('takes an entry with an id once', async () => {
    const named = { ...entry({ run_id: 'log-2' }), entry_id: 'log-2:i1' };
    expect(await test.store.feedbackLog.append([named, named])).toEqual({ written: 1 });
    expect(await test.store.feedbackLog.append([named])).toEqual({ written: 0 });
  });

  it('pages by type', async () => {
    const entries = Array.from({ length: 5 }, (_, n) => entry({ feedback_type: 'runtime_error', iteration: n }));
    await test.store.feedbackLog.append(entries);
    const first = await test.store.feedbackLog.list({ feedback_type: 'runtime_error', limit: 3 });
    const next = await test.store.feedbackLog.list({
      feedback_type: 'runtime_error',
      limit: 3,
      cursor: first.next_cursor ?? '',
    });
    expect([...first.items, ...next.items].map((item) => item.iteration)).toEqual([4, 3, 2, 1, 0]);
    expect(next.next_cursor).toBeNull();
  });
});

describe('bias tags', () => {
  it('count once per loop, per family and across families, trimmed with their case kept', async () => {
    const { biasCounts } = test.store;
    await biasCounts.add({ family: 'x', loop_id: 'x', tags: ['optimism', ' optimism ', 'Optimism', ''] });
    await biasCounts.add({ family: 'x', loop_id: 'x', tags: ['optimism'] });
    await biasCounts.add({ family: 'x', loop_id: 'x_r1', tags: ['optimism'] });
    await biasCounts.add({ family: 'y', loop_id: 'y', tags: ['optimism'] });
    expect(await biasCounts.ofFamily('x')).toEqual({ Optimism: 1, optimism: 2 });
    expect(await biasCounts.acrossFamilies(['optimism', 'never'])).toEqual({ optimism: 3, never: 0 });
    expect(await biasCounts.ofFamily('z')).toEqual({});
  });
});

describe('retry monitors', () => {
  const evaluation = (over: Partial<RetryEvaluation>): RetryEvaluation => ({
    run_id: 'monitored',
    step_id: 1,
    agent: 'clerk',
    model: null,
    attempts: 1,
    first_ok: true,
    final_ok: true,
    category: null,
    base_ms: 100,
    added_ms: 0,
    base_cost_micro_usd: 10,
    added_cost_micro_usd: 0,
    created_at: timeAt(0),
    ...over,
  });
  const recovered = { first_ok: false, category: 'rate_limit', added_ms: 50, added_cost_micro_usd: 5 };

  it('count each step once', async () => {
    const { retryMonitors } = test.store;
    expect(await retryMonitors.append([evaluation({}), evaluation({ step_id: 2 })])).toEqual({ written: 2 });
    expect(await retryMonitors.append([evaluation({ attempts: 9 })])).toEqual({ written: 0 });
    expect(await retryMonitors.recent({ agent: 'clerk' })).toMatchObject([
      { step_id: 2, attempts: 1 },
      { step_id: 1, attempts: 1 },
    ]);
  });

  it('add up per agent, model and day', async () => {
    const of = (step_id: number, over: Partial<RetryEvaluation>) =>
      evaluation({ run_id: 'totals', agent: 'totals', model: 'm1', step_id, ...over });
    await test.store.retryMonitors.append([
      of(1, {}),
      of(2, { ...recovered, attempts: 2 }),
      of(3, { ...recovered, attempts: 3 }),
      of(4, { ...recovered, attempts: 3, final_ok: false }),
      of(5, { model: null }),
    ]);
    expect(await test.store.retryMonitors.totals({ agent: 'totals', model: 'm1', since: timeAt(-1) })).toEqual([
      {
        agent: 'totals',
        model: 'm1',
        day: '2026-03-01',
        evaluations: 4,
        first_ok: 1,
        ok_after_retry_1: 2,
        ok_after_retry_2: 3,
        final_ok: 3,
        recovered: 2,
        base_ms: 400,
        added_ms: 150,
        base_cost_micro_usd: 40,
        added_cost_micro_usd: 15,
      },
    ]);
    expect(await test.store.retryMonitors.totals({ agent: 'totals', since: timeAt(-1) })).toHaveLength(2);
    expect(await test.store.retryMonitors.recent({ agent: 'totals', model: null })).toHaveLength(1);
    expect(await test.store.retryMonitors.recent({ agent: 'totals', model: 'm1', limit: 3 })).toHaveLength(3);
  });
});
