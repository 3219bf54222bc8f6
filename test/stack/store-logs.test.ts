/** Needs Postgres. Shows the feedback log and the counts of bias tags. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { StoredFeedbackEntry } from '../../src/store/feedback-log.ts';
import { openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const entry = (over: Partial<StoredFeedbackEntry> = {}): StoredFeedbackEntry => ({
  timestamp: timeAt(0),
  original_prompt: 'review the code',
  feedback_type: 'user_rejection',
  feedback_signal: 'wrong, I meant a security review',
  actions_applied: ['request_clarification'],
  refined_prompt: 'review the code\n\nTo clarify the goal: security',
  iteration: 1,
  success: true,
  run_id: null,
  source: 'person',
  ...over,
});

describe('the feedback log', () => {
  it('the feedback log gives entries back in the shape in which they were logged, last written first', async () => {
    const [first, second] = [entry({ run_id: 'log-1' }), entry({ run_id: 'log-1', iteration: 2, actions_applied: [] })];
    await test.store.feedbackLog.append([first, second]);
    expect((await test.store.feedbackLog.list({ run_id: 'log-1' })).items).toStrictEqual([second, first]);
  });

  it('the feedback log takes an entry with an id once', async () => {
    const named = { ...entry({ run_id: 'log-2' }), entry_id: 'log-2:i1' };
    expect(await test.store.feedbackLog.append([named, named])).toEqual({ written: 1 });
    expect(await test.store.feedbackLog.append([named])).toEqual({ written: 0 });
  });

  it('the feedback log pages by type', async () => {
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
  it('bias tags count once per loop, per family and across families, trimmed with their case kept', async () => {
    const { biasCounts } = test.store;
    await biasCounts.add({ family: 'x', loop_id: 'x', tags: ['optimism', ' optimism ', 'Optimism', ''] });
    await biasCounts.add({ family: 'x', loop_id: 'x', tags: ['optimism'] });
    await biasCounts.add({ family: 'x', loop_id: 'x_r1', tags: ['optimism'] });
    await biasCounts.add({ family: 'y', loop_id: 'y', tags: ['optimism'] });
    expect(await biasCounts.ofFamily('x')).toEqual({ Optimism: 1, optimism: 2 });
    expect(await biasCounts.acrossFamilies(['optimism', 'never'])).toEqual({ optimism: 3, never: 0 });
    expect(await biasCounts.ofFamily('z')).toEqual({});
  });

  it('bias tags of all other families are what a policy that counts globally starts from, and are capped', async () => {
    const { biasCounts } = test.store;
    const [flagged, rare, own] = ['elsewhere-often', 'elsewhere-once', 'elsewhere-own'];
    for (const loop_id of ['e', 'e_r1', 'e_r2']) await biasCounts.add({ family: 'e', loop_id, tags: [flagged] });
    await biasCounts.add({ family: 'f', loop_id: 'f', tags: [flagged, rare, 'x'.repeat(201)] });
    await biasCounts.add({ family: 'g', loop_id: 'g', tags: [own] });
    const counts = await biasCounts.elsewhere('g');
    expect(counts).toMatchObject({ [flagged]: 4, [rare]: 1 });
    expect(Object.keys(counts)[0]).toBe(flagged);
    expect(counts).not.toHaveProperty(own);
    expect(Object.keys(counts).filter((tag) => tag.length > 200)).toEqual([]);
    expect(Object.keys(await biasCounts.elsewhere('g', null, 1))).toEqual([flagged]);
  });
});
