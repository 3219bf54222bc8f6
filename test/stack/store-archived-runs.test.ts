/** Needs Postgres. Shows what remains of a run after Temporal has forgotten it. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ArchivedRun, ArchivedRunFilter } from '../../src/store/archived-runs.ts';
import { openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const archivedRun = (over: Partial<ArchivedRun> = {}): ArchivedRun => ({
  run_id: 'run-1',
  agent: 'clerk',
  goal: 'Sum the invoices 🧾',
  outcome: 'completed',
  summary: { state: 'ended', budget: { used: { steps: 3 } } },
  trace: [{ loop_id: 'loop_run-1', status: 'finalized' }],
  labels: ['nightly'],
  started_at: timeAt(0),
  ended_at: timeAt(1_000),
  ...over,
});

const idsOf = async (filter: ArchivedRunFilter): Promise<string[]> => {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await test.store.archivedRuns.list({ ...filter, ...(cursor && { cursor }) });
    ids.push(...page.items.map((run) => run.run_id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return ids;
};

describe('archived runs', () => {
  it('archived runs come back as they were put', async () => {
    const run = archivedRun();
    expect(await test.store.archivedRuns.put(run)).toEqual({ written: true });
    expect(await test.store.archivedRuns.get('run-1')).toStrictEqual(run);
    expect(await test.store.archivedRuns.get('run-0')).toBeNull();
  });

  it('archived runs are written once, however many put them at once, and the first stands', async () => {
    const puts = Array.from({ length: 50 }, () => test.store.archivedRuns.put(archivedRun({ run_id: 'run-2' })));
    const results = await Promise.all(puts);
    expect(results.filter((result) => result.written)).toHaveLength(1);
    const later = archivedRun({ run_id: 'run-2', outcome: 'cancelled' });
    expect(await test.store.archivedRuns.put(later)).toEqual({ written: false });
    expect(await test.store.archivedRuns.get('run-2')).toMatchObject({ outcome: 'completed' });
  });

  it('archived runs keep any text in goal, summary and trace, NULs and halves of characters mended', async () => {
    const dirty = archivedRun({ run_id: 'run-3', goal: 'a\0b \uD83D', summary: { 'k\0': ['\0x', '日本'] } });
    await test.store.archivedRuns.put(dirty);
    expect(await test.store.archivedRuns.get('run-3')).toMatchObject({
      goal: 'ab \uFFFD',
      summary: { k: ['x', '日本'] },
    });
  });

  it('archived runs are listed last ended first, page by page, by agent, outcome and label', async () => {
    const runs = Array.from({ length: 23 }, (_, n) =>
      archivedRun({
        run_id: `list-${String(n).padStart(2, '0')}`,
        agent: 'lister',
        outcome: n % 2 === 0 ? 'completed' : 'finalized',
        labels: n % 3 === 0 ? ['third', 'x'] : [],
        // Several end in the same millisecond: the id decides.
        ended_at: timeAt(10_000 + (n >> 1)),
      }),
    );
    for (const run of runs) await test.store.archivedRuns.put(run);
    const all = runs.map((run) => run.run_id).reverse();
    expect(await idsOf({ agent: 'lister', limit: 5 })).toEqual(all);
    expect(await idsOf({ agent: 'lister', outcome: 'finalized', limit: 4 })).toHaveLength(11);
    expect(await idsOf({ label: 'third', limit: 3 })).toEqual(all.filter((id) => Number(id.slice(5)) % 3 === 0));
    expect(await idsOf({ agent: 'nobody' })).toEqual([]);
  });

  it('archived runs are listed without their traces, which can be large', async () => {
    const { items } = await test.store.archivedRuns.list({ limit: 1 });
    expect(items[0]).not.toHaveProperty('trace');
  });
});
