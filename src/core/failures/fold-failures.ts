import type { FailureRecord, FailureStatus } from '../../protocol/schemas/failure-record.ts';
import type { NewRevision } from './folded-failure.ts';

/** The part of a record that status and counts depend on. */
export type RecordToFold = Pick<FailureRecord, 'failure_id' | 'run_id' | 'step_id' | 'fingerprint' | 'created_at'>;
export type RevisionToFold = Pick<NewRevision, 'revision_id' | 'fingerprint' | 'kind'> & {
  run_id: string;
  step_id: number;
  /** Missing if a person made the revision. */
  attempt?: number | null | undefined;
  created_at: string;
};

export interface FailureStanding {
  run_id: string;
  fingerprint: string;
  status: FailureStatus;
  occurrence_count: number;
  last_seen_step_id: number;
  last_failure_id: string;
  helpful_count: number;
  harmful_count: number;
}

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Compares which record is later. Ids end in a counter, so of two ids the shorter one is earlier. */
const compareRecords = (a: RecordToFold, b: RecordToFold): number =>
  compare(a.created_at, b.created_at) ||
  a.step_id - b.step_id ||
  a.failure_id.length - b.failure_id.length ||
  compare(a.failure_id, b.failure_id);

/** Compares which revision of a status is later. At the same moment, superseded comes before resolved. */
const compareRevisions = (a: RevisionToFold, b: RevisionToFold): number =>
  compare(a.created_at, b.created_at) ||
  a.step_id - b.step_id ||
  (a.attempt ?? 0) - (b.attempt ?? 0) ||
  compare(a.kind, b.kind) ||
  compare(a.revision_id, b.revision_id);

const latest = <T>(rows: readonly T[], later: (a: T, b: T) => number): T | undefined =>
  rows.reduce<T | undefined>((a, b) => (a === undefined || later(a, b) < 0 ? b : a), undefined);

const distinct = <T>(rows: readonly T[], idOf: (row: T) => string): T[] => [
  ...new Map(rows.map((row) => [idOf(row), row])).values(),
];

const groupKey = (row: { run_id: string; fingerprint: string }): string =>
  JSON.stringify([row.run_id, row.fingerprint]);

/** A revision at the same instant and step as the latest record applies, because it is about that record. */
const statusOf = (last: RecordToFold, word: RevisionToFold | undefined): FailureStatus => {
  if (word === undefined) return 'active';
  const after = compare(last.created_at, word.created_at) || last.step_id - word.step_id;
  if (after > 0) return 'active';
  return word.kind === 'superseded' ? 'superseded' : 'resolved';
};

const standingOf = (records: readonly RecordToFold[], revisions: readonly RevisionToFold[]): FailureStanding[] => {
  const last = latest(records, compareRecords);
  if (last === undefined) return [];
  const count = (kind: NewRevision['kind']): number => revisions.filter((one) => one.kind === kind).length;
  const words = revisions.filter((one) => one.kind === 'resolved' || one.kind === 'superseded');
  return [
    {
      run_id: last.run_id,
      fingerprint: last.fingerprint,
      status: statusOf(last, latest(words, compareRevisions)),
      occurrence_count: records.length,
      last_seen_step_id: last.step_id,
      last_failure_id: last.failure_id,
      helpful_count: count('shown_helpful'),
      harmful_count: count('shown_harmful'),
    },
  ];
};

/**
 * Computes the same as the store's view: status and counts per run and fingerprint, from records and revisions that
 * never change. The order of rows does not matter, and a repeated row counts once. The latest revision applies until a
 * later record, which makes the failure active again.
 */
export const foldFailures = (
  records: readonly RecordToFold[],
  revisions: readonly RevisionToFold[],
): FailureStanding[] => {
  const groups = new Map<string, { records: RecordToFold[]; revisions: RevisionToFold[] }>();
  for (const record of distinct(records, (row) => row.failure_id)) {
    const group = groups.get(groupKey(record)) ?? { records: [], revisions: [] };
    group.records.push(record);
    groups.set(groupKey(record), group);
  }
  for (const revision of distinct(revisions, (row) => row.revision_id)) {
    groups.get(groupKey(revision))?.revisions.push(revision);
  }
  return [...groups.values()]
    .flatMap((group) => standingOf(group.records, group.revisions))
    .sort((a, b) => compare(a.run_id, b.run_id) || compare(a.fingerprint, b.fingerprint));
};
