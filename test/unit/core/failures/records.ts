import type { FailureRecord } from '../../../../src/protocol/schemas/failure-record.ts';

type Outcome = FailureRecord['observed_outcome'];
type Action = FailureRecord['attempted_action'];
export type RecordParts = Partial<Omit<FailureRecord, 'observed_outcome' | 'attempted_action'>> &
  Partial<Outcome> &
  Partial<Action>;

let made = 0;

/** A record that passes its schema, with what a test cares about in it. */
export const recordWith = (parts: RecordParts = {}): FailureRecord => {
  made += 1;
  const { action_id, tool_name, tool_call_id, input_hash, kind, error_code, message_preview, duration_ms, ...rest } =
    parts;
  return {
    failure_id: `run-1:s1:a1:f${made}`,
    run_id: 'run-1',
    step_id: 1,
    phase: 'fetch',
    signal_type: 'tool_error',
    severity: 'medium',
    fingerprint: 'fp1:tool_error:fetch:HTTP_503:0000000000000000',
    attempted_action: {
      action_id: action_id ?? 'run-1:s1',
      tool_name: tool_name === undefined ? 'fetch' : tool_name,
      tool_call_id: tool_call_id ?? 'run-1:s1:a1',
      input_hash: input_hash === undefined ? 'input-a' : input_hash,
    },
    observed_outcome: {
      kind: kind ?? 'exception',
      error_code: error_code ?? 'HTTP_503',
      message_preview: message_preview ?? 'service unavailable',
      duration_ms: duration_ms ?? 5,
    },
    recommended_adjustment: { type: 'use_other_tool', tool_name: 'fetch' },
    context_refs: {},
    created_at: '2026-01-01T00:00:00.000Z',
    ...rest,
  };
};
