import { describe, expect, it } from 'vitest';
import {
  countFailures,
  findFailure,
  noteHumanAnswer,
  noteProgress,
  addFailure,
} from '../../../../src/core/failures/failure-memory.ts';
import { creditGuidance, resolveByProof, supersede } from '../../../../src/core/failures/revise-memory.ts';
import { emptyFailureMemory } from '../../../../src/core/failures/folded-failure.ts';
import type { FailureMemory } from '../../../../src/core/failures/folded-failure.ts';
import { CAP } from '../../../../src/protocol/caps.ts';
import { failureRecordSchema } from '../../../../src/protocol/schemas/failure-record.ts';
import type { FailureRecord } from '../../../../src/protocol/schemas/failure-record.ts';
import { recordWith } from './records.ts';

const rememberAll = (records: readonly FailureRecord[]): FailureMemory =>
  records.reduce((memory, record) => addFailure(memory, record), emptyFailureMemory());
const names = (memory: FailureMemory): string[] => memory.by_fingerprint.map((failure) => failure.fingerprint);
const only = (memory: FailureMemory) => memory.by_fingerprint[0]!;

describe('remembering', () => {
  it('repeated identical failures become one entry with a count and the step where it was last seen', () => {
    const first = recordWith({ step_id: 1 });
    const last = recordWith({ step_id: 4 });
    const memory = rememberAll([first, recordWith({ step_id: 3 }), last]);
    expect(only(memory)).toMatchObject({
      occurrence_count: 3,
      since_progress: 3,
      last_seen_step_id: 4,
      first_failure_id: first.failure_id,
      last_failure_id: last.failure_id,
      status: 'active',
    });
    expect(countFailures(memory)).toEqual({ total: 3, active: 1, by_signal: { tool_error: 3 } });
  });

  it('the test records are real records', () => {
    const record = recordWith();
    expect(failureRecordSchema.parse(record)).toEqual(record);
  });

  it('the same record added twice counts as one occurrence', () => {
    const record = recordWith();
    expect(countFailures(rememberAll([record, record])).total).toBe(1);
  });

  it('adding a failure never changes the memory it was given, and the result is plain JSON', () => {
    const before = rememberAll([recordWith()]);
    const copy = structuredClone(before);
    const after = addFailure(before, recordWith({ fingerprint: 'other' }), { tool_schema_hash: 'h' });
    creditGuidance(
      before,
      before.by_fingerprint.map((failure) => failure.fingerprint),
      { ok: true },
    );
    resolveByProof(before, { tool_name: 'fetch', input_hash: 'input-a' });
    expect(before).toEqual(copy);
    expect(JSON.parse(JSON.stringify(after))).toEqual(after);
  });

  it('a fingerprint called __proto__ is handled like any other name', () => {
    const memory = rememberAll([recordWith({ fingerprint: '__proto__' })]);
    expect(findFailure(memory, '__proto__')?.occurrence_count).toBe(1);
    expect(findFailure(emptyFailureMemory(), '__proto__')).toBeUndefined();
    expect(findFailure(emptyFailureMemory(), 'toString')).toBeUndefined();
  });
});

describe('the cap', () => {
  const many = (count: number, parts: Parameters<typeof recordWith>[0] = {}) =>
    Array.from({ length: count }, (_, n) => recordWith({ fingerprint: `fp-${n}`, input_hash: `input-${n}`, ...parts }));

  it('the memory keeps at most its limit of fingerprints, and the counts of records stay right', () => {
    const memory = rememberAll(many(CAP.fingerprintsInState + 20));
    expect(names(memory)).toHaveLength(CAP.fingerprintsInState);
    expect(countFailures(memory)).toMatchObject({ total: 120, active: 120 });
  });

  it('a full memory drops settled failures first, then the least severe, then the longest unseen', () => {
    const add = (memory: FailureMemory, fingerprint: string, severity: 'low' | 'high') =>
      addFailure(memory, recordWith({ fingerprint, severity, input_hash: fingerprint }), { max_fingerprints: 3 });
    let memory = add(add(add(emptyFailureMemory(), 'old-low', 'low'), 'settled', 'high'), 'high', 'high');
    memory = resolveByProof(memory, { tool_name: 'fetch', input_hash: 'settled' }).memory;
    memory = add(memory, 'new-low', 'low');
    expect(names(memory)).toEqual(['old-low', 'high', 'new-low']);
    memory = add(memory, 'third-low', 'low');
    expect(names(memory)).toEqual(['high', 'new-low', 'third-low']);
    // The one just seen stays, even if it is the least of all.
    memory = add(add(add(memory, 'h2', 'high'), 'h3', 'high'), 'fourth-low', 'low');
    expect(names(memory)).toContain('fourth-low');
  });

  it('the memory takes less than half of the run state, however long names and paths are', () => {
    const worst = Array.from({ length: CAP.fingerprintsInState }, (_, n) =>
      Array.from({ length: 10 }, (_unused, m) =>
        recordWith({
          failure_id: `${'r'.repeat(100)}:s10000:a100:f${n}-${m}`,
          fingerprint: `${String(n).padStart(3, '0')}${'f'.repeat(197)}`,
          tool_name: 't'.repeat(128),
          error_code: 'E'.repeat(80),
          phase: 'p'.repeat(128),
          input_hash: `input-${m}`,
          message_preview: '漢'.repeat(300),
          recommended_adjustment: {
            type: 'change_arguments',
            tool_name: 't'.repeat(128),
            paths: Array.from({ length: 10 }, () => 'p'.repeat(120)),
          },
        }),
      ),
    ).flat();
    const memory = worst.reduce(
      (kept, record) => addFailure(kept, record, { tool_schema_hash: 'a'.repeat(64) }),
      emptyFailureMemory(),
    );
    expect(Buffer.byteLength(JSON.stringify(memory))).toBeLessThan(CAP.stateBytes / 2);
  });
});

describe('progress', () => {
  it('a success with a new artifact resets the counts towards escalation, not the history', () => {
    const memory = noteProgress(rememberAll([recordWith(), recordWith()]));
    expect(only(memory)).toMatchObject({ since_progress: 0, occurrence_count: 2, status: 'active' });
    expect(only(addFailure(memory, recordWith()))).toMatchObject({ since_progress: 1, occurrence_count: 3 });
  });

  it('a human answer counts as progress once per fingerprint, and only for that fingerprint', () => {
    const mine = recordWith().fingerprint;
    let memory = rememberAll([recordWith(), recordWith(), recordWith({ fingerprint: 'other' })]);
    memory = noteHumanAnswer(memory, mine);
    expect(findFailure(memory, mine)?.since_progress).toBe(0);
    expect(findFailure(memory, 'other')?.since_progress).toBe(1);
    memory = noteHumanAnswer(addFailure(memory, recordWith()), mine);
    expect(findFailure(memory, mine)?.since_progress).toBe(1);
    expect(noteHumanAnswer(memory, 'unknown')).toBe(memory);
  });
});

describe('what guidance was worth', () => {
  const memory = rememberAll([recordWith({ fingerprint: 'a' }), recordWith({ fingerprint: 'b' })]);

  it('an attempt that succeeded makes every shown row of guidance helpful', () => {
    const credited = creditGuidance(memory, ['a', 'b', 'a', 'unknown'], { ok: true });
    expect(findFailure(credited.memory, 'a')).toMatchObject({ helpful_count: 1, harmful_count: 0 });
    expect(findFailure(credited.memory, 'b')).toMatchObject({ helpful_count: 1, harmful_count: 0 });
    expect(credited.revisions.map(({ fingerprint, kind }) => [fingerprint, kind])).toEqual([
      ['a', 'shown_helpful'],
      ['b', 'shown_helpful'],
    ]);
  });

  it('an attempt that failed the same way makes only that row of guidance harmful', () => {
    const credited = creditGuidance(memory, ['a', 'b'], { ok: false, fingerprint: 'a' });
    expect(findFailure(credited.memory, 'a')).toMatchObject({ helpful_count: 0, harmful_count: 1 });
    expect(credited.revisions).toHaveLength(1);
  });

  it('an attempt that failed in another way changes no rating of guidance', () => {
    expect(creditGuidance(memory, ['a', 'b'], { ok: false, fingerprint: 'c' })).toEqual({ memory, revisions: [] });
  });

  it('each rating of guidance has an id of its own', () => {
    const once = creditGuidance(memory, ['a'], { ok: true });
    const twice = creditGuidance(once.memory, ['a'], { ok: true });
    expect(twice.revisions[0]?.revision_id).not.toBe(once.revisions[0]?.revision_id);
  });
});

describe('resolved by proof', () => {
  const trigger = { tool_name: 'fetch', input_hash: 'input-a' };

  it('a failure is resolved when the same tool succeeds with the same input', () => {
    const { memory, revisions } = resolveByProof(rememberAll([recordWith()]), trigger);
    expect(only(memory).status).toBe('resolved');
    expect(revisions).toMatchObject([{ kind: 'resolved', failure_id: only(memory).last_failure_id }]);
    expect(countFailures(memory)).toMatchObject({ total: 1, active: 0 });
  });

  it.each([
    ['another input', { tool_name: 'fetch', input_hash: 'input-b' }],
    ['another tool', { tool_name: 'read', input_hash: 'input-a' }],
    ['an unknown input', { tool_name: 'fetch', input_hash: null }],
  ])('%s proves nothing', (_name, other) => {
    const memory = rememberAll([recordWith()]);
    expect(resolveByProof(memory, other)).toEqual({ memory, revisions: [] });
  });

  it('a failure stays active when there is only progress elsewhere', () => {
    expect(only(noteProgress(rememberAll([recordWith()]))).status).toBe('active');
  });

  it('a failure is resolved only after every trigger of it has succeeded', () => {
    const both = rememberAll([recordWith(), recordWith({ input_hash: 'input-b' })]);
    const half = resolveByProof(both, trigger);
    expect(only(half.memory).status).toBe('active');
    expect(half.revisions).toEqual([]);
    expect(only(resolveByProof(half.memory, { ...trigger, input_hash: 'input-b' }).memory).status).toBe('resolved');
  });

  it('a failure with more triggers than are kept can no longer be proven resolved', () => {
    const records = Array.from({ length: 12 }, (_, n) => recordWith({ input_hash: `input-${n}` }));
    const memory = records.reduce(
      (kept, record) =>
        resolveByProof(kept, { tool_name: 'fetch', input_hash: record.attempted_action.input_hash }).memory,
      rememberAll(records),
    );
    expect(only(memory).status).toBe('active');
  });

  it('a failed retrieval is resolved by a success of its query, whatever else its input says', () => {
    const record = recordWith({ signal_type: 'retrieval_failure', kind: 'empty_result', input_hash: 'page-1' });
    const memory = addFailure(emptyFailureMemory(), record, { query: 'Blue  Whale' });
    expect(
      only(resolveByProof(memory, { tool_name: 'fetch', input_hash: 'page-2', query: 'blue whale' }).memory).status,
    ).toBe('resolved');
    expect(
      only(resolveByProof(memory, { tool_name: 'fetch', input_hash: 'page-1', query: 'red whale' }).memory).status,
    ).toBe('active');
  });

  it('a stall, a correction and a spent budget are not resolved by a successful call', () => {
    for (const signal_type of ['loop_stall', 'human_correction', 'budget_pressure'] as const) {
      expect(only(resolveByProof(rememberAll([recordWith({ signal_type })]), trigger).memory).status).toBe('active');
    }
  });

  it('a resolved failure that occurs again is active again', () => {
    const resolved = resolveByProof(rememberAll([recordWith()]), trigger).memory;
    expect(only(addFailure(resolved, recordWith()))).toMatchObject({ status: 'active', occurrence_count: 2 });
  });
});

describe('superseded by a changed schema', () => {
  it('failures of a tool are superseded if its schema was known and has changed', () => {
    let memory = addFailure(emptyFailureMemory(), recordWith({ fingerprint: 'old' }), { tool_schema_hash: 'v1' });
    memory = addFailure(memory, recordWith({ fingerprint: 'new' }), { tool_schema_hash: 'v2' });
    memory = addFailure(memory, recordWith({ fingerprint: 'unknown' }));
    memory = addFailure(memory, recordWith({ fingerprint: 'foreign', tool_name: 'read' }), { tool_schema_hash: 'v1' });
    const { memory: after, revisions } = supersede(memory, 'fetch', 'v2');
    expect(after.by_fingerprint.map(({ fingerprint, status }) => [fingerprint, status])).toEqual([
      ['old', 'superseded'],
      ['new', 'active'],
      ['unknown', 'active'],
      ['foreign', 'active'],
    ]);
    expect(revisions).toMatchObject([{ fingerprint: 'old', kind: 'superseded' }]);
    expect(supersede(after, 'fetch', 'v2').revisions).toEqual([]);
  });
});
