import { actionId, canonicalJson, failureId, hashOfJson, sha256Hex, toolCallId } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';
import type { TextArtifact } from '../../protocol/records.ts';
import type { FailureRecord, OutcomeKind, SignalType } from '../../protocol/schemas/failure-record.ts';
import type { Plan } from '../../protocol/schemas/plan.ts';
import { isoTime } from '../../protocol/time.ts';
import type { CallFailed, Guidance, PromptUse } from '../../protocol/tools.ts';
import { adjustmentFor } from '../failures/adjustment.ts';
import { defaultSeverity } from '../failures/severity.ts';
import { fingerprintOf } from '../failures/fingerprint.ts';
import type { RunState, StepInFlight } from './state.ts';

/** A record and the manifest that it can be traced to. */
export interface MadeRecord {
  record: FailureRecord;
  manifest: TextArtifact;
}

/** Records that share a step and an attempt are told apart by this number, so that no two ever share an id. */
const ORDINAL = { attempt: 0, correction: 1, pressure: 2, stall: 50, feedback: 10_000, turn: 1_000_000 } as const;
/** Turns take no step of their own, so they are told apart by the model calls of the whole run. */
export const ordinalOfTurn = (state: RunState, what: 'failure' | 'stall'): number =>
  ORDINAL.turn + 2 * state.ledger.used.model_calls + (what === 'stall' ? 1 : 0);

/** The record of a failed attempt, of a tool or of a planner's turn. */
export function recordOfAttempt(
  state: RunState,
  step: StepInFlight,
  guidance: Guidance,
  failure: CallFailed,
  how: { effectUnknown: boolean; willRetry: boolean; now: number },
): MadeRecord {
  const kind = kindOf(failure, how);
  const signal_type = signalOf(failure);
  const manifest = manifestOf(state, step, guidance, failure);
  const ordinal = step.kind === 'planner' ? ordinalOfTurn(state, 'failure') : ORDINAL.attempt;
  const record: FailureRecord = {
    failure_id: failureId(state.run.run_id, step.step_id, step.attempt, ordinal),
    run_id: state.run.run_id,
    step_id: step.step_id,
    phase: step.phase,
    signal_type,
    severity: defaultSeverity({ signal_type, kind, category: failure.category }),
    fingerprint: fingerprintOf({
      signal_type,
      tool_name: step.tool,
      error_code: failure.error_code,
      query: failure.query,
      chunk_ids: failure.chunk_ids,
      message: failure.message_preview,
    }),
    attempted_action: {
      action_id: actionId(state.run.run_id, step.step_id),
      tool_name: step.tool,
      tool_call_id: toolCallId(state.run.run_id, step.step_id, step.attempt),
      input_hash: hashOnce(step.input),
    },
    observed_outcome: {
      kind,
      error_code: failure.error_code.slice(0, 80),
      message_preview: failure.message_preview,
      duration_ms: Math.round(failure.duration_ms),
    },
    recommended_adjustment: adjustmentFor({
      signal_type,
      kind,
      category: failure.category,
      tool_name: step.tool,
      error_code: failure.error_code,
      timeout_ms: step.constraints.timeout_ms ?? state.run.manifest[step.tool]?.timeout_ms,
      max_bytes: failure.max_bytes,
      denied: failure.denied,
      paths: failure.paths,
    }),
    context_refs: {
      manifest_id: manifest.id,
      ...artifactRefs(failure),
    },
    created_at: isoTime(how.now),
  };
  return { record, manifest };
}

/** The record of something that no call made: a person's correction, or a budget under pressure. */
export function recordOfNotice(
  state: RunState,
  step: StepInFlight,
  now: number,
  what: {
    signal_type: SignalType;
    kind: OutcomeKind;
    error_code: string;
    tool_name: string | null;
    /** Which of several pressures at once, or of the feedbacks. */
    index?: number;
    /** Of a turn, which has a number of its own. */
    ordinal?: number;
    budget?: string;
    /** Of a stall, which is named by the calls that repeat. */
    fingerprint?: string;
    /** Said during the run, not as the answer about a step. */
    isFeedback?: boolean;
  },
): MadeRecord {
  const { signal_type, kind, error_code, tool_name } = what;
  const manifest = manifestOf(state, step, { rows: [], text: '' }, null);
  const record: FailureRecord = {
    failure_id: failureId(state.run.run_id, step.step_id, step.attempt, what.ordinal ?? ordinalOf(what)),
    run_id: state.run.run_id,
    step_id: step.step_id,
    phase: step.phase,
    signal_type,
    severity: defaultSeverity({ signal_type, kind }),
    fingerprint: what.fingerprint ?? fingerprintOf({ signal_type, tool_name, error_code }),
    attempted_action: {
      action_id: actionId(state.run.run_id, step.step_id),
      tool_name,
      tool_call_id: null,
      input_hash: null,
    },
    observed_outcome: { kind, error_code, duration_ms: 0 },
    recommended_adjustment: adjustmentFor({ signal_type, kind, tool_name, error_code, budget: what.budget }),
    context_refs: { manifest_id: manifest.id },
    created_at: isoTime(now),
  };
  return { record, manifest };
}

function ordinalOf(what: { signal_type: SignalType; index?: number; isFeedback?: boolean }): number {
  const { index = 0 } = what;
  if (what.isFeedback === true) return ORDINAL.feedback + index;
  if (what.signal_type === 'human_correction') return ORDINAL.correction;
  return (what.signal_type === 'loop_stall' ? ORDINAL.stall : ORDINAL.pressure) + index;
}

/** What the attempt left behind, as pointers: its prompt and what it kept of its output. */
function artifactRefs({ prompt, kept = [] }: CallFailed): { artifact_ids?: string[] } {
  const ids = [...(prompt === undefined ? [] : promptIds(prompt)), ...kept.map(({ artifact_id }) => artifact_id)];
  return ids.length === 0 ? {} : { artifact_ids: [...new Set(ids)].slice(0, MAX_REFS) };
}
const MAX_REFS = 20;

/** What a prompt was and what it became: pointers, never the text. */
const promptIds = ({ original_id, enhanced_id, diff_id }: PromptUse): string[] => [
  ...new Set([original_id, enhanced_id, ...(diff_id === null ? [] : [diff_id])]),
];

function kindOf(failure: CallFailed, how: { effectUnknown: boolean; willRetry: boolean }): OutcomeKind {
  if (how.effectUnknown) return 'side_effect_unknown';
  switch (failure.category) {
    case 'pointer_unresolved':
      return 'pointer_unresolved';
    case 'timeout':
      return 'timeout';
    case 'contract_violation':
      return how.willRetry ? 'schema_violation' : 'repair_exhausted';
    case 'invalid_input':
      return 'schema_violation';
    case 'retrieval_failure':
      return RETRIEVAL_KINDS[failure.error_code] ?? 'no_evidence';
    default:
      return 'exception';
  }
}

const RETRIEVAL_KINDS: Record<string, OutcomeKind> = {
  EMPTY_RESULT: 'empty_result',
  LOW_CONFIDENCE: 'low_confidence',
  NO_EVIDENCE: 'no_evidence',
};

function signalOf(failure: CallFailed): SignalType {
  switch (failure.category) {
    case 'contract_violation':
    case 'invalid_input':
    case 'validation_grounding':
    case 'validation_reasoning':
    case 'validation_both':
    case 'validation_unknown':
      return 'contract_violation';
    case 'retrieval_failure':
      return 'retrieval_failure';
    default:
      return 'tool_error';
  }
}

/** What produced an attempt, so that its record can be traced to it. An artifact: its id is the hash of its text. */
function manifestOf(state: RunState, step: StepInFlight, guidance: Guidance, failure: CallFailed | null): TextArtifact {
  const { run } = state;
  const text = canonicalJson({
    run_id: run.run_id,
    agent: run.agent,
    loop_id: state.loop.loop_id,
    plan_version: run.plan === null ? null : hashOnce(run.plan),
    step_id: step.step_id,
    phase: step.phase,
    tool: step.tool,
    tool_schema: run.manifest[step.tool]?.schema_hash ?? null,
    tool_call_id: toolCallId(run.run_id, step.step_id, step.attempt),
    attempt: step.attempt,
    input_hash: hashOnce(step.input),
    guidance: guidance.rows,
    constraints: step.constraints,
    reflections: guidance.rows.flatMap(({ reflection_id }) => (reflection_id === undefined ? [] : [reflection_id])),
    prompt: failure?.prompt ?? null,
  });
  return { id: sha256Hex(text), text };
}

/** Plans and inputs never change, and a hash costs more than the rest of a record: each is hashed once. */
const hashes = new WeakMap<object, string>();
export function hashOnce(value: Json | Plan): string {
  if (typeof value !== 'object' || value === null) return hashOfJson(value);
  const hash = hashes.get(value) ?? hashOfJson(value);
  hashes.set(value, hash);
  return hash;
}
