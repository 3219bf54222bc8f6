import type { Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import { attemptKey } from './from-calls.ts';
import { countOf, type Fields, fieldsOf, listOf, textOf, textOrNull } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact, FailureRecorded } from './run-event.ts';

/** The outbox holds this many at most; what is forgotten here could only come twice after that. */
const UNSAVED_TO_REMEMBER = 2 * CAP.outboxRecords;

/**
 * The failures of a batch that is to be stored, each told once. The run sends a record again when its write did not
 * succeed, so only those need to be remembered.
 */
export function factsOfBatch(state: ProjectionState, batch: Fields): { facts: Fact[]; failureIds: string[] } {
  const records = listOf(batch['records']).map(recordOf);
  const fresh = records.filter((record) => record.failure_id !== '' && !state.unsaved.includes(record.failure_id));
  state.unsaved = [...state.unsaved, ...fresh.map((record) => record.failure_id)].slice(-UNSAVED_TO_REMEMBER);
  return {
    facts: fresh.flatMap((record) => [...factsOfUncalled(state, record, batch), record]),
    failureIds: records.map((record) => record.failure_id),
  };
}

export function forgetSaved(state: ProjectionState, failureIds: string[]): void {
  state.unsaved = state.unsaved.filter((id) => !failureIds.includes(id));
}

/** An attempt whose input could not be put together never became a call; its record is all that history has of it. */
function factsOfUncalled(state: ProjectionState, record: FailureRecorded, batch: Fields): Fact[] {
  if (record.kind !== 'pointer_unresolved' || record.tool_name === null) return [];
  const key = attemptKey(record);
  if (state.unresolved.includes(key)) {
    state.unresolved = state.unresolved.filter((other) => other !== key);
    return [];
  }
  const { step_id, attempt, phase, created_at } = record;
  const place = { loop_id: loopOf(state, record, batch), step_id, phase, tool: record.tool_name };
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

/** The manifest travels beside its record and knows the loop. */
function loopOf(state: ProjectionState, record: FailureRecorded, batch: Fields): string {
  const manifest = listOf(batch['artifacts']).find((artifact) => fieldsOf(artifact)['id'] === record.manifest_id);
  try {
    const told = JSON.parse(textOf(fieldsOf(manifest)['text'])) as unknown;
    return textOf(fieldsOf(told)['loop_id']) || state.loop_id;
  } catch {
    return state.loop_id;
  }
}

function recordOf(value: Json): FailureRecorded {
  const record = fieldsOf(value);
  const action = fieldsOf(record['attempted_action']);
  const observed = fieldsOf(record['observed_outcome']);
  const failure_id = textOf(record['failure_id']);
  return {
    event: 'failure_recorded',
    failure_id,
    step_id: countOf(record['step_id']),
    attempt: Number(/:a(\d{1,9}):f\d+$/.exec(failure_id)?.[1] ?? 0),
    phase: textOf(record['phase']),
    signal_type: textOf(record['signal_type']),
    severity: textOf(record['severity']),
    fingerprint: textOf(record['fingerprint']),
    tool_name: textOrNull(action['tool_name']),
    tool_call_id: textOrNull(action['tool_call_id']),
    kind: textOf(observed['kind']),
    error_code: textOrNull(observed['error_code']),
    message_preview: textOrNull(observed['message_preview']),
    manifest_id: textOrNull(fieldsOf(record['context_refs'])['manifest_id']),
    created_at: textOf(record['created_at']),
  };
}
