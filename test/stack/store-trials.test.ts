/** Needs Postgres. Shows what becomes of a lesson after the observations of runs and the decisions of people. */
import { beforeAll, describe, expect, it } from 'vitest';
import { errorSignature } from '../../src/core/lessons/signature.ts';
import { isWithheld } from '../../src/core/lessons/assignment.ts';
import { seededRandom } from '../../src/testing/simulator/seeded-random.ts';
import { openTestStore } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const FINGERPRINT = 'fp1:tool_error:stock:HTTP_422';
const learn = async (agent: string): Promise<number> => {
  const content = `If stock fails with HTTP_422, then what worked was pages of 50 for ${agent}.`;
  const error_signature = errorSignature('tool_error', content);
  const context = {
    error_signature,
    original_query: '',
    iteration_count: 1,
    quality_improvement: 1,
    reflection_context: '',
  };
  const row = { scope: 'agent' as const, agent, error_type: 'tool_error', error_signature, fingerprint: FINGERPRINT };
  const { id } = await test.store.reflections.persist({
    ...row,
    content,
    rationale: '',
    tags: [],
    tools: ['stock'],
    context,
    similarity_threshold: 1,
  });
  return id;
};
const get = (id: number) => test.store.reflections.get(id);

/** Lives runs one after the other, as they write what they observed, until the status changes. */
async function liveUntilVerdict(id: number, rates: { shown: number; withheld: number }, name: string) {
  const random = seededRandom(5);
  const before = await get(id);
  const { status = 'candidate', phase = '0' } = before ?? {};
  const share = status === 'proven' ? 0.1 : 0.5;
  for (let n = 1; n <= 2_000; n += 1) {
    const run_id = `${name}-${id}-${n}`;
    const shown = !isWithheld(run_id, id, share);
    const first_ok = random() < (shown ? rates.shown : rates.withheld);
    const trial = { phase, shown, share_shown: 1 - share, first_ok, attempts: first_ok ? 1 : 2, same_again: !first_ok };
    const use = { use_id: `${run_id}:trial`, reflection_id: id, run_id, succeeded: first_ok, trial };
    await test.store.reflections.recordUses([use]);
    const now = await get(id);
    if (now?.status !== status) return { runs: n, now };
  }
  throw new Error('no verdict');
}

const recall = (agent: string) =>
  test.store.reflections.recallForFailure({
    scope: 'agent',
    agent,
    error_type: 'tool_error',
    fingerprint: FINGERPRINT,
    description: 'If stock fails with HTTP_422',
  });
const atStart = (agent: string) => test.store.startMemory.lessons({ scope: 'agent', agent, tools: ['stock'] });

describe('a lesson that harms', () => {
  it('is quarantined with its figures, and is recalled again only when a person restores it', async () => {
    const id = await learn('harmed');
    expect(await get(id)).toMatchObject({ status: 'candidate', phase: '0' });
    expect(await recall('harmed')).toMatchObject([{ status: 'candidate' }]);
    const { now } = await liveUntilVerdict(id, { shown: 0.3, withheld: 0.9 }, 'first');
    expect(now).toMatchObject({ status: 'quarantined' });
    const [verdict] = await test.store.reflections.verdictsOf(id);
    expect(verdict).toMatchObject({ status: 'quarantined' });
    expect(verdict?.high).toBeLessThan(0);
    expect(verdict?.effect).toBeLessThan(-0.3);
    expect([await recall('harmed'), await atStart('harmed')]).toEqual([[], []]);

    await test.store.reflections.revise({ reflection_id: id, action: 'restore', by: 'ada' });
    expect(await get(id)).toMatchObject({ status: 'candidate', retired: false });
    expect(await recall('harmed')).toHaveLength(1);
    expect(await atStart('harmed')).toMatchObject([{ id, status: 'candidate' }]);
    expect(await test.store.reflections.trialOf(id)).toMatchObject({ shown: { n: 0 }, withheld: { n: 0 } });
  });

  it('is shown all the same when a person pins it', async () => {
    const id = await learn('pinned');
    await liveUntilVerdict(id, { shown: 0.2, withheld: 0.9 }, 'first');
    await test.store.reflections.revise({ reflection_id: id, action: 'pin', by: 'ada' });
    expect([await recall('pinned'), await atStart('pinned')]).toMatchObject([[{ id }], [{ id }]]);
  });
});

describe('a lesson that helps', () => {
  it('is proven, stays on trial with one run in ten, and begins anew after an edit', async () => {
    const id = await learn('helped');
    const { now } = await liveUntilVerdict(id, { shown: 0.95, withheld: 0.4 }, 'first');
    expect(now).toMatchObject({ status: 'proven', phase: expect.stringMatching(/^v\d+$/) as string });
    expect(await atStart('helped')).toMatchObject([{ status: 'proven' }]);
    const later = await liveUntilVerdict(id, { shown: 0.2, withheld: 0.9 }, 'second');
    expect(later.now).toMatchObject({ status: 'quarantined' });
    await test.store.reflections.revise({ reflection_id: id, action: 'edit', content: 'Ask for pages.', by: 'ada' });
    expect(await get(id)).toMatchObject({ status: 'candidate', content: 'Ask for pages.' });
    expect((await test.store.reflections.verdictsOf(id)).map(({ status }) => status)).toEqual([
      'proven',
      'quarantined',
    ]);
  });
});

describe('an observation', () => {
  it('counts once for a run, and not for a phase that is over', async () => {
    const id = await learn('once');
    const trial = { phase: '0', shown: true, share_shown: 0.5, first_ok: true, attempts: 1, same_again: false };
    const use = { use_id: 'u', reflection_id: id, run_id: 'one', succeeded: true, trial };
    await test.store.reflections.recordUses([use]);
    await test.store.reflections.recordUses([use]);
    await test.store.reflections.recordUses([{ ...use, run_id: 'late', trial: { ...trial, phase: 'v0' } }]);
    expect(await test.store.reflections.trialOf(id)).toMatchObject({
      shown: { n: 1, ok: 1 },
      withheld: { n: 0 },
      attempts: { shown: 1, withheld: null },
    });
  });
});
