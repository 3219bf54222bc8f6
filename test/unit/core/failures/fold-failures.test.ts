import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditGuidance, resolveByProof, supersede } from '../../../../src/core/failures/revise-memory.ts';
import { emptyFailureMemory } from '../../../../src/core/failures/folded-failure.ts';
import { foldFailures } from '../../../../src/core/failures/fold-failures.ts';
import { addFailure } from '../../../../src/core/failures/failure-memory.ts';
import type { RevisedMemory } from '../../../../src/core/failures/folded-failure.ts';
import type { RevisionToFold } from '../../../../src/core/failures/fold-failures.ts';
import type { FailureRecord } from '../../../../src/protocol/schemas/failure-record.ts';
import { recordWith } from './records.ts';

const name = fc.constantFrom('a', 'b', 'c');
const event = fc.oneof(
  fc.record({
    what: fc.constant('fail' as const),
    fingerprint: name,
    input: name,
    schema: fc.constantFrom('v1', 'v2'),
  }),
  fc.record({ what: fc.constant('credit' as const), shown: fc.array(name), failed_as: fc.option(name) }),
  fc.record({ what: fc.constant('pass' as const), input: name }),
  fc.record({ what: fc.constant('schema' as const), schema: fc.constantFrom('v1', 'v2') }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const live = (events: readonly Event[]) => {
  const records: FailureRecord[] = [];
  const revisions: RevisionToFold[] = [];
  let memory = emptyFailureMemory();
  for (const [index, one] of events.entries()) {
    const step_id = index + 1;
    // Some share a millisecond: workflow time stands still within a task.
    const created_at = `2026-01-01T00:00:${String(Math.floor(index / 3)).padStart(2, '0')}.000Z`;
    const apply = (revised: RevisedMemory): void => {
      memory = revised.memory;
      revisions.push(
        ...revised.revisions.map((made) => ({ ...made, run_id: 'run-1', step_id, attempt: 1, created_at })),
      );
    };
    if (one.what === 'fail') {
      const record = recordWith({ fingerprint: one.fingerprint, input_hash: one.input, step_id, created_at });
      records.push(record);
      memory = addFailure(memory, record, { tool_schema_hash: one.schema });
    } else if (one.what === 'credit') {
      apply(
        creditGuidance(
          memory,
          one.shown,
          one.failed_as === null ? { ok: true } : { ok: false, fingerprint: one.failed_as },
        ),
      );
    } else if (one.what === 'pass') apply(resolveByProof(memory, { tool_name: 'fetch', input_hash: one.input }));
    else apply(supersede(memory, 'fetch', one.schema));
  }
  return { memory, records, revisions };
};

describe('the fold of records and revisions', () => {
  it('folding records and revisions gives what the run itself knew, whatever their order and however often each was written', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (events, numbers) => {
        const { memory, records, revisions } = live(events);
        const shuffled = <T>(rows: readonly T[]): T[] =>
          [...rows, ...rows]
            .map((row) => ({ row, at: numbers.next().value }))
            .sort((a, b) => a.at - b.at)
            .map(({ row }) => row);
        const known = memory.by_fingerprint
          .map(
            ({
              fingerprint,
              status,
              occurrence_count,
              last_seen_step_id,
              last_failure_id,
              helpful_count,
              harmful_count,
            }) => ({
              run_id: 'run-1',
              fingerprint,
              status,
              occurrence_count,
              last_seen_step_id,
              last_failure_id,
              helpful_count,
              harmful_count,
            }),
          )
          .sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
        expect(foldFailures(shuffled(records), shuffled(revisions))).toEqual(known);
      }),
      { numRuns: 500 },
    );
  });

  it('folding keeps runs apart', () => {
    const rows = [recordWith({ run_id: 'r1' }), recordWith({ run_id: 'r2' }), recordWith({ run_id: 'r2' })];
    expect(foldFailures(rows, []).map(({ run_id, occurrence_count }) => [run_id, occurrence_count])).toEqual([
      ['r1', 1],
      ['r2', 2],
    ]);
  });
});
