/** Needs Postgres. Shows that the view `failure_status` says what the pure fold says. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { foldFailures } from '../../src/core/failures/fold-failures.ts';
import type { NewFailureRevision } from '../../src/store/failure-revisions.ts';
import type { FailureStatusRow } from '../../src/store/failure-status.ts';
import { failureRecord, openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const revision = (over: Partial<NewFailureRevision>): NewFailureRevision => ({
  run_id: 'run-1',
  fingerprint: 'fp1:tool_error:search:0011',
  kind: 'resolved',
  step_id: 1,
  attempt: 1,
  by: 'runtime',
  created_at: timeAt(0),
  ...over,
});

describe('the status of a failure', () => {
  it('the status of a failure equals the pure fold of the same records and revisions, whatever they are', async () => {
    const moment = fc.record({ at: fc.integer({ min: 0, max: 5 }), step_id: fc.integer({ min: 0, max: 3 }) });
    const fingerprint = fc.constantFrom('fp1:a', 'fp1:b');
    const kind = fc.constantFrom('resolved', 'superseded', 'shown_helpful', 'shown_harmful');
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(moment, fingerprint), { maxLength: 8 }),
        fc.uniqueArray(fc.tuple(moment, fingerprint, kind, fc.integer({ min: 1, max: 3 })), {
          maxLength: 8,
          selector: ([{ step_id }, print, what, attempt]) => `${step_id} ${print} ${what} ${attempt}`,
        }),
        async (failures, proofs) => {
          runs += 1;
          const run_id = `property-${runs}`;
          const records = failures.map(([{ at, step_id }, print], index) =>
            failureRecord({
              run_id,
              failure_id: `${run_id}:f${index}`,
              step_id,
              fingerprint: print,
              created_at: timeAt(at),
            }),
          );
          const revisions = proofs.map(([{ at, step_id }, print, what, attempt]) =>
            revision({ run_id, fingerprint: print, kind: what, step_id, attempt, created_at: timeAt(at) }),
          );
          await test.store.records.append(records);
          await test.store.revisions.append(revisions);
          const byFingerprint = (left: FailureStatusRow, right: FailureStatusRow) =>
            left.fingerprint < right.fingerprint ? -1 : 1;
          const actual = (await test.store.failureStatus.forRun(run_id)).sort(byFingerprint);
          const expected = foldFailures(records, await test.store.revisions.forRun(run_id));
          expect(actual.map(({ first_failure_id: _first, ...standing }) => standing)).toEqual(expected);
          for (const { fingerprint, first_failure_id } of actual) {
            const [first] = records
              .filter((record) => record.fingerprint === fingerprint)
              .sort(
                (a, b) =>
                  (a.created_at < b.created_at ? -1 : 1) * Number(a.created_at !== b.created_at) ||
                  a.step_id - b.step_id,
              );
            expect(first_failure_id).toBe(first?.failure_id);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('the status of a failure is active again when the failure comes back after it was resolved', async () => {
    const record = failureRecord({ run_id: 'again', failure_id: 'again:1', created_at: timeAt(0) });
    const status = async () => (await test.store.failureStatus.of('again', record.fingerprint))?.status;
    await test.store.records.append([record]);
    expect(await status()).toBe('active');
    await test.store.revisions.append([revision({ run_id: 'again', created_at: timeAt(10) })]);
    expect(await status()).toBe('resolved');
    await test.store.records.append([{ ...record, failure_id: 'again:2', step_id: 2, created_at: timeAt(20) }]);
    expect(await status()).toBe('active');
  });

  it('the status of a failure is nothing for a run that had no failure', async () => {
    expect(await test.store.failureStatus.forRun('quiet')).toEqual([]);
    expect(await test.store.failureStatus.of('quiet', 'fp1:none')).toBeNull();
  });
});

describe('a revision', () => {
  it('a revision written 100 times at once is written once', async () => {
    const one = revision({ run_id: 'once', kind: 'shown_helpful' });
    const results = await Promise.all(Array.from({ length: 100 }, () => test.store.revisions.append([one])));
    expect(results.reduce((sum, result) => sum + result.written, 0)).toBe(1);
  });

  it('a revision of the same attempt is the same one, whatever the time at which it is told again', async () => {
    const one = revision({ run_id: 'retold', kind: 'shown_harmful' });
    expect(await test.store.revisions.append([one, { ...one, created_at: timeAt(99) }])).toEqual({
      written: 1,
      duplicates: 1,
    });
  });

  it('a revision of a person can be said again after the failure came back', async () => {
    const { attempt: _attempt, ...said } = revision({ run_id: 'person', kind: 'superseded', by: 'ada', reason: 'v2' });
    await test.store.revisions.append([said]);
    expect(await test.store.revisions.append([{ ...said, created_at: timeAt(50) }])).toMatchObject({ written: 1 });
    expect(await test.store.revisions.forRun('person')).toMatchObject([
      { by: 'ada', reason: 'v2', attempt: null, created_at: timeAt(0) },
      { created_at: timeAt(50) },
    ]);
  });

  it('a revision with a wrong field is refused by its path', async () => {
    const wrong = revision({ kind: 'forgotten' as never });
    await expect(test.store.revisions.append([wrong])).rejects.toThrow(/^kind: /);
  });
});
