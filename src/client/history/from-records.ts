import type { Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import { attemptKey } from './from-calls.ts';
import { asCount, type Fields, asFields, asList, asText, textOrNull } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact, FailureRecorded } from './run-event.ts';

/** Twice the size of the outbox, so that every record that may be sent again is remembered. */
const UNSAVED_TO_REMEMBER = 2 * CAP.outboxRecords;

/**
 * The failures in a batch for the store, each emitted once. The run sends a record again if its write failed, so only records that
 * are not stored yet are remembered.
 */
export function projectBatch(state: ProjectionState, batch: Fields): { facts: Fact[]; failureIds: string[] } {
  const records = asList(batch['records']).map(readRecord);
  const fresh = records.filter((record) => record.failure_id !== '' && !state.unsaved.includes(record.failure_id));
  state.unsaved = [...state.unsaved, ...fresh.map((record) => record.failure_id)].slice(-UNSAVED_TO_REMEMBER);
  return {
    facts: fresh.flatMap((record) => [...projectUncalled(state, record, batch), record]),
    failureIds: records.map((record) => record.failure_id),
  };
}

export function forgetSaved(state: ProjectionState, failureIds: string[]): void {
  state.unsaved = state.unsaved.filter((id) => !failureIds.includes(id));
}

/** If the input of an attempt could not be resolved, there was no call, and its record is the only trace of it in history. */
function projectUncalled(state: ProjectionState, record: FailureRecorded, batch: Fields): Fact[] {
  if (record.kind !== 'pointer_unresolved' || record.tool_name === null) return [];
  const key = attemptKey(record);
  if (state.unresolved.includes(key)) {
    state.unresolved = state.unresolved.filter((other) => other !== key);
    return [];
  }
  const { step_id, attempt, phase, created_at } = record;
  const place = { loop_id: findLoopId(state, record, batch), step_id, phase, tool: record.tool_name };
  const failure = {
    category: 'pointer_unresolved' as const,
    error_code: record.error_code ?? '',
    message_preview: record.message_preview ?? '',
    certainty: 'not_started' as const,
    origin: 'tool' as const,
  };
  const times = { started_at: created_at, ended_at: created_at, wait_ms: 0 };
  return [
    ...(attempt === 1 ? [{ event: 'step_started' as const, ...place }] : []),
    { event: 'attempt_ended', ...place, attempt, outcome: 'failed', ...times, failure },
  ];
}

/** The manifest in the same batch says which pass a record belongs to. */
function findLoopId(state: ProjectionState, record: FailureRecorded, batch: Fields): string {
  const manifest = asList(batch['artifacts']).find((artifact) => asFields(artifact)['id'] === record.manifest_id);
  try {
    const told = JSON.parse(asText(asFields(manifest)['text'])) as unknown;
    return asText(asFields(told)['loop_id']) || state.loop_id;
  } catch {
    return state.loop_id;
  }
}

function readRecord(value: Json): FailureRecorded {
  const record = asFields(value);
  const action = asFields(record['attempted_action']);
  const observed = asFields(record['observed_outcome']);
  const failure_id = asText(record['failure_id']);
  return {
    event: 'failure_recorded',
    failure_id,
    step_id: asCount(record['step_id']),
    attempt: Number(/:a(\d{1,9}):f\d+$/.exec(failure_id)?.[1] ?? 0),
    phase: asText(record['phase']),
    signal_type: asText(record['signal_type']),
    severity: asText(record['severity']),
    fingerprint: asText(record['fingerprint']),
    tool_name: textOrNull(action['tool_name']),
    tool_call_id: textOrNull(action['tool_call_id']),
    kind: asText(observed['kind']),
    error_code: textOrNull(observed['error_code']),
    message_preview: textOrNull(observed['message_preview']),
    manifest_id: textOrNull(asFields(record['context_refs'])['manifest_id']),
    created_at: asText(record['created_at']),
  };
}
