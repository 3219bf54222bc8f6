import type { Client } from '@temporalio/client';
import type { FoldedFailure } from '../../core/failures/folded-failure.ts';
import { foldFailures } from '../../core/failures/fold-failures.ts';
import { ACTIVITY, QUERY } from '../../protocol/names.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { RunNotFoundError } from '../../protocol/errors.ts';
import type { Store } from '../../store/store.ts';
import { asFields, decodeFirst, type HistoryEvent, asList } from '../history/history-event.ts';
import { fetchHistory } from '../history/read-history.ts';
import type { FailureItem, Standing } from '../views.ts';
import { askRun, isKnownRun } from './run-views.ts';

/**
 * Reads every failure record of a run with the current status of its fingerprint. An open run itself knows the status best. Its
 * latest records may not be stored yet; they are then read from history.
 */
export async function runFailures(client: Client, store: Store | undefined, runId: string): Promise<FailureItem[]> {
  const [{ answer }, stored, standings] = await Promise.all([
    askRun<{ failures: FoldedFailure[] }>(client, runId, QUERY.failures),
    store?.records.forRun(runId) ?? [],
    store?.failureStatus.forRun(runId) ?? [],
  ]);
  const told = answer?.failures ?? null;
  const total = (told ?? []).reduce((sum, failure) => sum + failure.occurrence_count, 0);
  const records = total > stored.length ? merged(stored, await recordsInHistory(client, runId)) : stored;
  if (records.length === 0 && told === null && !(await isKnownRun(client, runId))) throw new RunNotFoundError(runId);
  const byFingerprint = new Map<string, Standing>();
  for (const standing of foldFailures(records, [])) byFingerprint.set(standing.fingerprint, standing);
  for (const standing of standings) byFingerprint.set(standing.fingerprint, standing);
  for (const failure of told ?? []) {
    // A run learns by a signal that a person has superseded a failure; until then the store knows better.
    if (byFingerprint.get(failure.fingerprint)?.status !== 'superseded')
      byFingerprint.set(failure.fingerprint, failure);
  }
  return records.map((record) => ({ ...record, ...toStanding(byFingerprint.get(record.fingerprint)) }));
}

const toStanding = (standing: Standing | undefined): Standing => ({
  status: standing?.status ?? 'active',
  occurrence_count: standing?.occurrence_count ?? 1,
  last_seen_step_id: standing?.last_seen_step_id ?? 0,
  helpful_count: standing?.helpful_count ?? 0,
  harmful_count: standing?.harmful_count ?? 0,
});

const merged = (stored: readonly FailureRecord[], told: readonly FailureRecord[]): FailureRecord[] =>
  [...new Map([...told, ...stored].map((record) => [record.failure_id, record])).values()].sort(
    (one, other) =>
      compare(one.created_at, other.created_at) ||
      one.step_id - other.step_id ||
      compare(one.failure_id, other.failure_id),
  );
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

async function recordsInHistory(client: Client, runId: string): Promise<FailureRecord[]> {
  return (await fetchHistory(client, runId)).flatMap(readRecords);
}

/** The records are in the input of the activity that writes them to the store. */
function readRecords(event: HistoryEvent): FailureRecord[] {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const input = asFields(decodeFirst(scheduled?.input));
  const batch =
    scheduled?.activityType?.name === ACTIVITY.record
      ? input
      : scheduled?.activityType?.name === ACTIVITY.archive
        ? asFields(input['pending'])
        : {};
  return asList(batch['records']) as unknown as FailureRecord[];
}
