import type { Json } from '../../src/protocol/json.ts';

/** Removes what differs between virtual and real time, and nothing else. */
const TIMES = new Set([
  'started_at',
  'updated_at',
  'ended_at',
  'created_at',
  'asked_at',
  'deadline',
  'at',
  'timestamp',
  'opened_at',
  'duration_ms',
  'seconds',
  'human_wait_ms',
  'backing_off_until',
  'may_act_until',
  // A fence follows the clock.
  'fence',
]);

export function withoutTimes(value: unknown): Json {
  const text = JSON.stringify(value, (key, inner: unknown) => (TIMES.has(key) && inner !== null ? '<time>' : inner));
  return JSON.parse(text) as Json;
}
