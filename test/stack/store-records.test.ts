/** Needs Postgres. Shows what becomes of failure records on their way into the store and out of it. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { FailureRecord } from '../../src/protocol/schemas/failure-record.ts';
import { failureRecord, openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const recordsOf = (runId: string, count: number): FailureRecord[] =>
  Array.from({ length: count }, (_, index) =>
    failureRecord({ run_id: runId, failure_id: `${runId}:s${index}:a1:f1`, step_id: index, created_at: timeAt(index) }),
  );

const rowsOf = async (runId: string): Promise<number> => {
  const [row] = await test.query<{ n: number }>('select count(*)::int as n from failure_records where run_id = $1', [
    runId,
  ]);
  return row?.n ?? -1;
};

describe('writing records', () => {
  it('the store gives back exactly the fields of the record', async () => {
    const record = failureRecord({ run_id: 'exact', failure_id: 'exact:s1:a1:f1' });
    await test.store.records.append([record], { agent: 'writer' });
    expect(await test.store.records.get('exact:s1:a1:f1')).toStrictEqual(record);
    expect(await test.store.records.get('nobody')).toBeNull();
  });

  it('the store writes 1,000 records once when each is written 10 times at once, in batches of any order', async () => {
    const records = recordsOf('ten-times', 1_000);
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, writer) =>
        test.store.records.append(writer % 2 === 0 ? records : records.toReversed(), { agent: 'writer' }),
      ),
    );
    expect(results.reduce((sum, result) => sum + result.written, 0)).toBe(1_000);
    expect(results.reduce((sum, result) => sum + result.duplicates, 0)).toBe(9_000);
    expect(await rowsOf('ten-times')).toBe(1_000);
    expect(await test.store.failureStatus.forRun('ten-times')).toMatchObject([{ occurrence_count: 1_000 }]);
  });

  it('the store writes 1,000 records once when 10,000 single writes arrive at once', { timeout: 90_000 }, async () => {
    const records = recordsOf('singly', 1_000);
    const writes = Array.from({ length: 10 }, () => records).flat();
    const results = await Promise.all(writes.map((record) => test.store.records.append([record])));
    expect(results.filter((result) => result.written === 1)).toHaveLength(1_000);
    expect(results.filter((result) => result.duplicates === 1)).toHaveLength(9_000);
    expect(await rowsOf('singly')).toBe(1_000);
    expect(await test.store.failureStatus.forRun('singly')).toMatchObject([{ occurrence_count: 1_000 }]);
  });

  it('the store writes one record once when it is written 1,000 times at once', async () => {
    const record = failureRecord({ run_id: 'same', failure_id: 'same:s1:a1:f1' });
    const results = await Promise.all(Array.from({ length: 1_000 }, () => test.store.records.append([record])));
    expect(results.filter((result) => result.written === 1)).toHaveLength(1);
    expect(await rowsOf('same')).toBe(1);
    expect(await test.store.failureStatus.of('same', record.fingerprint)).toMatchObject({ occurrence_count: 1 });
  });

  it('the store counts a record that is twice in one batch as one and a duplicate', async () => {
    const record = failureRecord({ run_id: 'twice', failure_id: 'twice:s1:a1:f1' });
    expect(await test.store.records.append([record, record])).toEqual({ written: 1, duplicates: 1, refused: [] });
  });

  it('the store lets the first of two records with one id stand', async () => {
    const first = failureRecord({ run_id: 'first', failure_id: 'first:s1:a1:f1', severity: 'low' });
    await test.store.records.append([first]);
    await test.store.records.append([{ ...first, severity: 'high' }]);
    expect(await test.store.records.get('first:s1:a1:f1')).toMatchObject({ severity: 'low' });
  });

  it('the store takes an empty batch', async () => {
    expect(await test.store.records.append([])).toEqual({ written: 0, duplicates: 0, refused: [] });
  });
});

describe('poison records', () => {
  it('poison records are refused with the path that is wrong, and the others of the batch go in', async () => {
    const [good, other] = recordsOf('poison', 2) as [FailureRecord, FailureRecord];
    const badStep = { ...good, failure_id: 'poison:bad-step', step_id: -1 };
    const badAdjustment = {
      ...good,
      failure_id: 'poison:bad-adjustment',
      recommended_adjustment: { type: 'cap_output', tool_name: 'search', max_bytes: 'many' },
    } as unknown as FailureRecord;
    const result = await test.store.records.append([badStep, good, badAdjustment, other]);
    expect(result).toMatchObject({ written: 2, duplicates: 0 });
    expect(result.refused.map((refusal) => refusal.failure_id)).toEqual(['poison:bad-step', 'poison:bad-adjustment']);
    expect(result.refused[0]?.reason).toMatch(/^step_id: /);
    expect(result.refused[1]?.reason).toMatch(/^recommended_adjustment\.max_bytes: /);
  });

  it('poison records that only the database refuses do not take the others with them', async () => {
    const [good] = recordsOf('year-zero', 1) as [FailureRecord];
    const yearZero = { ...good, failure_id: 'year-zero:bad', created_at: '0000-01-01T00:00:00Z' };
    const result = await test.store.records.append([yearZero, good, good]);
    expect(result).toMatchObject({ written: 1, duplicates: 1, refused: [{ failure_id: 'year-zero:bad' }] });
    expect(result.refused[0]?.reason).toContain('out of range');
  });

  it('poison records that are no objects at all are refused without an id', async () => {
    const result = await test.store.records.append([null, 'text'] as unknown as FailureRecord[]);
    expect(result.refused.map((refusal) => refusal.failure_id)).toEqual([null, null]);
  });

  it('poison records with a NUL in an id are refused, not stored under another id', async () => {
    const result = await test.store.records.append([failureRecord({ failure_id: 'nul\0id' })]);
    expect(result).toMatchObject({ written: 0, refused: [{ reason: expect.stringMatching(/^failure_id: /) }] });
  });
});

describe('text', () => {
  const stored = async (failureId: string, preview: string, reason = 'x'): Promise<FailureRecord | null> => {
    const record = failureRecord({
      failure_id: failureId,
      phase: preview,
      observed_outcome: { kind: 'exception', message_preview: preview, duration_ms: 0 },
      recommended_adjustment: { type: 'ask_human', reason },
    });
    await test.store.records.append([record], { agent: preview });
    return test.store.records.get(failureId);
  };

  it.each([
    ['emoji', '🧵👩‍👩‍👧 done'],
    ['Japanese', '接続できません：タイムアウト'],
    ['right to left', 'שגיאה في الاتصال'],
    ['control characters and ANSI codes', '\u001B[31mred\u001B[0m\r\n\t\u0007'],
    ['backslashes that look like escapes', String.raw`C:\u0000\ud800 '; drop table x; --`],
  ])('text with %s comes back unchanged', async (name, text) => {
    const record = await stored(`text:${name.replaceAll(' ', '-')}`, text);
    expect(record?.phase).toBe(text);
    expect(record?.observed_outcome.message_preview).toBe(text);
  });

  it('text loses its NULs', async () => {
    const record = await stored('text:nul', 'a\0b\0', '\0why');
    expect(record?.phase).toBe('ab');
    expect(record?.observed_outcome.message_preview).toBe('ab');
    expect(record?.recommended_adjustment).toEqual({ type: 'ask_human', reason: 'why' });
  });

  it('text has its lone surrogates replaced, and its pairs kept', async () => {
    const record = await stored('text:surrogate', 'cut \uD83D here \uDE00, whole 😀');
    expect(record?.phase).toBe('cut \uFFFD here \uFFFD, whole 😀');
    expect(record?.observed_outcome.message_preview).toBe('cut \uFFFD here \uFFFD, whole 😀');
  });
});

describe('reading records', () => {
  it('reading records goes through all pages, newest first, without a gap or a repetition', async () => {
    const records = recordsOf('pages', 25).map((record) => ({ ...record, created_at: timeAt(record.step_id >> 2) }));
    await test.store.records.append(records, { agent: 'pager' });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await test.store.records.list({ agent: 'pager', limit: 7, ...(cursor && { cursor }) });
      seen.push(...page.items.map((record) => record.failure_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
    const times = seen.map((id) => records.find((record) => record.failure_id === id)?.created_at ?? '');
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('reading records refuses a cursor that is none', async () => {
    await expect(test.store.records.list({ cursor: 'nonsense' })).rejects.toThrow('cursor: not a cursor of this list');
  });

  it('the store groups failures over runs by day', async () => {
    const day = (n: number) => new Date(Date.UTC(2027, 0, n, 12)).toISOString();
    const fingerprint = 'fp1:by-day';
    await test.store.records.append(
      [1, 1, 2].map((n, index) =>
        failureRecord({ failure_id: `by-day:${index}`, run_id: `by-day-${index}`, fingerprint, created_at: day(n) }),
      ),
      { agent: 'by-day' },
    );
    expect(await test.store.records.fingerprintsByDay({ agent: 'by-day', since: day(1) })).toEqual([
      { day: '2027-01-02', fingerprint, occurrence_count: 1, run_count: 1 },
      { day: '2027-01-01', fingerprint, occurrence_count: 2, run_count: 2 },
    ]);
  });
});
