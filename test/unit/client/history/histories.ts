/** Histories written by hand: for what no well-behaved run would ever leave behind. */
import type { HistoryEvent } from '../../../../src/client/history/history-event.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export const payload = (value: unknown) => ({
  metadata: { encoding: utf8('json/plain') },
  data: utf8(JSON.stringify(value)),
});
export const rawPayload = (encoding: Uint8Array, data: Uint8Array) => ({ metadata: { encoding }, data });
type Payload = ReturnType<typeof rawPayload>;

const one = (value: Payload) => ({ payloads: [value] });

/** One event each second, numbered from 1, as Temporal does. */
export function history(...attributes: Record<string, unknown>[]): HistoryEvent[] {
  return attributes.map(
    (given, index) =>
      ({ eventId: index + 1, eventTime: { seconds: index + 1, nanos: 0 }, ...given }) as unknown as HistoryEvent,
  );
}

export const started = (input: Payload = payload({ prepared: { run_id: 'r', loop_id: 'loop_r' } })) => ({
  workflowExecutionStartedEventAttributes: { input: one(input) },
});
export const scheduled = (type: string, input: Payload) => ({
  activityTaskScheduledEventAttributes: { activityType: { name: type }, input: one(input) },
});
export const completed = (scheduledEventId: number, result: Payload = payload(null)) => ({
  activityTaskCompletedEventAttributes: { scheduledEventId, result: one(result) },
});
export const failed = (scheduledEventId: number, details: Payload = payload(null), type = 'server_error') => ({
  activityTaskFailedEventAttributes: {
    scheduledEventId,
    failure: { message: 'no', applicationFailureInfo: { type, details: one(details) } },
  },
});
export const memo = (question: Payload) => ({
  workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: { pending_question: question } } },
});
export const signalled = (signalName: string, body: Payload) => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: one(body) },
});
export const updated = (name: string, body: Payload) => ({
  workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest: { input: { name, args: one(body) } } },
});
export const timer = (summary: Payload, seconds: unknown = 5) => ({
  userMetadata: { summary },
  timerStartedEventAttributes: { startToFireTimeout: { seconds, nanos: 0 } },
});
export const ended = (result: Payload) => ({
  workflowExecutionCompletedEventAttributes: { result: one(result) },
});
export const cancelledByTemporal = () => ({ workflowExecutionCanceledEventAttributes: {} });

export const call = (step_id: number, attempt: number) =>
  payload({ loop_id: 'loop_r', step_id, attempt, phase: 'act', tool: 'look', waited_ms: 0 });

export const record = (step_id: number, attempt: number, kind = 'exception') => ({
  failure_id: `r:s${step_id}:a${attempt}:f0`,
  step_id,
  phase: 'act',
  attempted_action: { tool_name: 'look', tool_call_id: `r:s${step_id}:a${attempt}` },
  observed_outcome: { kind, error_code: 'E', message_preview: 'no' },
  context_refs: { manifest_id: `m${step_id}` },
  created_at: '2026-01-01T00:00:00.000Z',
});
export const batch = (...records: object[]) => payload({ records, artifacts: [] });
