import type { Json } from '../../protocol/json.ts';
import { type Redact, redactJson, redactMember, redactMembers } from './redact.ts';

/**
 * Fields of ours that name something. People copy them into the next call, and programs compare them, so they are never
 * redacted, whatever they look like: a run may be called `sk-learn-training-2026-11-16`, and a tool `postgres.query` where
 * `postgres` is a password.
 */
const IDENTIFIERS = new Set(
  (
    'id run_id loop_id step_id parent_run_id root_run_id original_loop_id new_loop_id rerun_of workflow_id workflowId runId ' +
    'question_id failure_id last_failure_id decision_id reflection_id duplicate_of action_id call_id tool_call_id query_id chunk_id chunk_ids ' +
    'evidence_id evidence_ids artifact_id artifact_ids input_id plan_id input_artifact_id plan_artifact_id from_artifact_id output_artifact_id manifest_id original_id enhanced_id diff_id ' +
    'idempotency_key request_id trace_id span_id delivery_id next_cursor cursor task_queue taskQueue activityType activityId ' +
    'workflowType agent tool tool_name tools phase signal_type error_type error_code error_signature severity fingerprint kind ' +
    'category certainty origin state outcome event feedback_type labels tags input_hash model scope type media_type version'
  ).split(' '),
);

/** Below these stands what tools, models and people wrote: names in there are theirs, and everything is redacted. */
const CONTENT = new Set(['input', 'output', 'details', 'context', 'heartbeat', 'arguments', 'answer']);

/** A value of ours as people are shown it: identifiers stay, every other text is redacted. */
export function redactShown<T>(value: T, redact: Redact): T {
  return shown(value as Json, redact) as T;
}

function shown(value: Json, redact: Redact): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => shown(item, redact));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return redactMembers(value, (key) => {
    const inner = value[key] as Json;
    if (isIdentifier(key, inner)) return [key, inner];
    if (CONTENT.has(key)) return [key, redactJson(inner, redact)];
    const isObject = typeof inner === 'object' && inner !== null;
    return isObject ? [redact(key), shown(inner, redact)] : [redact(key), redactMember(key, inner, redact)];
  });
}

const isIdentifier = (key: string, value: Json): boolean =>
  IDENTIFIERS.has(key) &&
  (typeof value !== 'object' || (Array.isArray(value) && value.every((item) => typeof item === 'string')));
