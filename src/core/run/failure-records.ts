import { CAP } from '../../protocol/caps.ts';
import { actionId, canonicalJson, failureId, hashOfJson, sha256Hex, toolCallId } from '../../protocol/ids.ts';
import { defined, isRecord, type Json } from '../../protocol/json.ts';
import type { TextArtifact } from '../../protocol/records.ts';
import type { FailureRecord, OutcomeKind, SignalType } from '../../protocol/schemas/failure-record.ts';
import type { Plan } from '../../protocol/schemas/plan.ts';
import { isoTime } from '../../protocol/time.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import type { CallFailed, Constraints, GuidanceRow, PromptUse, ToolManifestEntry } from '../../protocol/tools.ts';
import { recommendAdjustment } from '../failures/adjustment.ts';
import { fingerprintOf } from '../failures/fingerprint.ts';
import { defaultSeverity } from '../failures/severity.ts';
import type { Attempt, FailedAttempt, Step, Subject } from './attempts.ts';
import type { RunState } from './state.ts';

/** Numbers the records that share a step and an attempt, so that no two records have the same id. */
const ORDINAL = {
  attempt: 0,
  correction: 1,
  pressure: 2,
  stall: 50,
  override: 100,
  feedback: 10_000,
  turn: 1_000_000,
} as const;

/**
 * Numbers the records of planner turns by the model calls of the whole run, because turns have no step of their own.
 */
export const turnOrdinal = (state: RunState, what: 'failure' | 'stall'): number =>
  ORDINAL.turn + 2 * state.ledger.used.model_calls + (what === 'stall' ? 1 : 0);

/** Makes the record of a failed attempt, of a tool or of a planner's turn. */
export function makeFailureRecord(
  state: RunState,
  step: Step,
  attempt: FailedAttempt,
  how: { effectUnknown: boolean; willRetry: boolean },
): FailureRecord {
  const { run } = state;
  const { call, step_id } = step;
  const { outcome: failure } = attempt;
  const manifest = manifestText(state, step, attempt);
  const kind = toOutcomeKind(failure, how);
  const signal_type = toSignalType(failure);
  const ordinal = step.kind === 'planner' ? turnOrdinal(state, 'failure') : ORDINAL.attempt;
  const record: FailureRecord = {
    failure_id: failureId(run.run_id, step_id, attempt.n, ordinal),
    run_id: run.run_id,
    step_id,
    phase: call.phase,
    signal_type,
    severity: defaultSeverity({ signal_type, kind, category: failure.category }),
    fingerprint: fingerprintOf({
      signal_type,
      tool_name: call.tool,
      error_code: failure.error_code,
      query: failure.query,
      chunk_ids: failure.chunk_ids,
      message: failure.message_preview,
    }),
    attempted_action: {
      action_id: actionId(run.run_id, step_id),
      tool_name: call.tool,
      tool_call_id: toolCallId(run.run_id, step_id, attempt.n),
      input_hash: hashCached(call.input),
    },
    observed_outcome: {
      kind,
      error_code: failure.error_code.slice(0, 80),
      message_preview: failure.message_preview,
      duration_ms: Math.round(failure.duration_ms),
    },
    recommended_adjustment: recommendAdjustment({
      signal_type,
      kind,
      category: failure.category,
      tool_name: call.tool,
      error_code: failure.error_code,
      timeout_ms: attempt.constraints?.timeout_ms ?? run.manifest[call.tool]?.timeout_ms,
      max_bytes: failure.max_bytes,
      page: pageOf(run.manifest[call.tool], call.input),
      denied: failure.denied,
      paths: failure.paths,
    }),
    context_refs: { ...artifactRefs(failure), manifest_id: sha256Hex(manifest), ...failure.refs },
    created_at: isoTime(attempt.at),
  };
  manifests.set(record, manifest);
  return record;
}

/** The page that a call asked for; without a number in its input, the one that the tool's schema states. */
function pageOf(entry: ToolManifestEntry | undefined, input: Json): ToolManifestEntry['page'] {
  if (entry?.page === undefined) return undefined;
  const { argument } = entry.page;
  const asked = isRecord(input) ? input[argument] : undefined;
  return typeof asked === 'number' && Number.isSafeInteger(asked) && asked > 0 ? { argument, size: asked } : entry.page;
}

/**
 * Caches manifest texts by record. Most are written moments later, and making one again costs as much as the record.
 */
const manifests = new WeakMap<FailureRecord, string>();

export interface Notice {
  signal_type: SignalType;
  kind: OutcomeKind;
  error_code: string;
  tool_name: string | null;
  /** The position among the warnings about budgets, the overrides or the feedback messages of the run. */
  index?: number;
  /** Set for a planner's turn, whose records are numbered by model calls. */
  ordinal?: number;
  budget?: string;
  /** Set for a stall, whose fingerprint is made of the repeated calls. */
  fingerprint?: string;
  /** True for feedback that was sent during the run, and false for an answer about a step. */
  isFeedback?: boolean;
  /** True for an override that let another pass start. */
  isOverride?: boolean;
  /** What a person said. The record points to it as an artifact. */
  said?: { by: string; text: string };
}

/**
 * Makes the record of an event that is not a failed attempt: a person's correction, a stall, or a budget under
 * pressure.
 */
export function makeNoticeRecord(
  state: RunState,
  subject: Subject,
  notice: Notice,
  now: number,
): { record: FailureRecord; artifacts: TextArtifact[] } {
  const { run } = state;
  const { signal_type, kind, error_code, tool_name, said } = notice;
  const manifest = noticeManifest(state, subject);
  const text = said === undefined ? null : textOfPerson(state, subject, said);
  const record: FailureRecord = {
    failure_id: failureId(run.run_id, subject.step_id, subject.attempt, notice.ordinal ?? noticeOrdinal(notice)),
    run_id: run.run_id,
    step_id: subject.step_id,
    phase: subject.phase,
    signal_type,
    severity: defaultSeverity({ signal_type, kind }),
    fingerprint: notice.fingerprint ?? fingerprintOf({ signal_type, tool_name, error_code }),
    attempted_action: {
      action_id: actionId(run.run_id, subject.step_id),
      tool_name,
      tool_call_id: null,
      input_hash: null,
    },
    observed_outcome: defined({
      kind,
      error_code,
      message_preview: said && toWellFormed(`${said.by}: ${said.text}`.slice(0, CAP.messagePreviewChars)),
      duration_ms: 0,
    }),
    recommended_adjustment: recommendAdjustment({ signal_type, kind, tool_name, error_code, budget: notice.budget }),
    context_refs: { manifest_id: manifest.id, ...(text !== null && { artifact_ids: [text.id] }) },
    created_at: isoTime(now),
  };
  return { record, artifacts: text === null ? [manifest] : [manifest, text] };
}

/** What a person said, in full and with the name, because a record only has a preview. */
function textOfPerson(
  { run }: RunState,
  { step_id }: Subject,
  { by, text }: { by: string; text: string },
): TextArtifact {
  const kept = canonicalJson({ run_id: run.run_id, step_id, by, text });
  return { id: sha256Hex(kept), text: kept };
}

function noticeOrdinal({ signal_type, index = 0, isFeedback, isOverride }: Notice): number {
  if (isFeedback === true) return ORDINAL.feedback + index;
  if (isOverride === true) return ORDINAL.override + index;
  if (signal_type === 'human_correction') return ORDINAL.correction;
  return (signal_type === 'loop_stall' ? ORDINAL.stall : ORDINAL.pressure) + index;
}

/** Lists the artifacts that the attempt left in the store: its prompt and parts of its output. */
function artifactRefs({ prompt, kept = [] }: CallFailed): { artifact_ids?: string[] } {
  if (prompt === undefined && kept.length === 0) return {};
  const ids = [...(prompt === undefined ? [] : promptIds(prompt)), ...kept.map(({ artifact_id }) => artifact_id)];
  return ids.length === 0 ? {} : { artifact_ids: [...new Set(ids)].slice(0, MAX_REFS) };
}
const MAX_REFS = 20;

const promptIds = ({ original_id, enhanced_id, diff_id }: PromptUse): string[] => [
  ...new Set([original_id, enhanced_id, ...(diff_id === null ? [] : [diff_id])]),
];

function toOutcomeKind(failure: CallFailed, how: { effectUnknown: boolean; willRetry: boolean }): OutcomeKind {
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

function toSignalType(failure: CallFailed): SignalType {
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

/**
 * The text of an attempt's manifest: everything that produced the attempt, so that its record can be traced. The
 * manifest is an artifact, and its id is the hash of this text.
 */
export function manifestText(state: RunState, step: Step, attempt: Attempt): string {
  const { call, step_id } = step;
  const known = attempt.record && manifests.get(attempt.record);
  if (known !== undefined) return known;
  return renderManifest(state, {
    step_id,
    phase: call.phase,
    tool: call.tool,
    attempt: attempt.n,
    // The input of a finished plan step is dropped from the state; its record keeps the hash.
    input_hash: attempt.record?.attempted_action.input_hash ?? hashCached(call.input),
    guidance: attempt.guidance?.rows ?? [],
    constraints: attempt.constraints ?? {},
    prompt: attempt.outcome?.class === 'failed' ? (attempt.outcome.prompt ?? null) : null,
  });
}

/** The manifest of a notice names the input of the step that it is about, where that step is known. */
function noticeManifest(state: RunState, subject: Subject): TextArtifact {
  const { batch, steps } = state.loop;
  const isSubject = ({ step_id }: Step): boolean => step_id === subject.step_id;
  const step = batch.find(isSubject) ?? steps.find(isSubject);
  const input = step === undefined || step.call.input === null ? null : hashCached(step.call.input);
  const text = renderManifest(state, { ...subject, input_hash: input, guidance: [], constraints: {}, prompt: null });
  return { id: sha256Hex(text), text };
}

interface Manifest extends Subject {
  input_hash: string | null;
  guidance: GuidanceRow[];
  constraints: Constraints;
  prompt: PromptUse | null;
}

function renderManifest({ run, loop }: RunState, manifest: Manifest): string {
  const { step_id, phase, tool, attempt, input_hash, guidance, constraints, prompt } = manifest;
  const reflections: number[] = [];
  for (const { reflection_id } of guidance) if (reflection_id !== undefined) reflections.push(reflection_id);
  // The members are in canonical order, so that they need not be sorted.
  return canonicalJson({
    agent: run.agent,
    attempt,
    constraints,
    guidance,
    input_hash,
    loop_id: loop.loop_id,
    phase,
    plan_version: run.plan === null ? null : hashCached(run.plan),
    prompt,
    reflections,
    run_id: run.run_id,
    step_id,
    tool,
    tool_call_id: toolCallId(run.run_id, step_id, attempt),
    tool_schema: run.manifest[tool]?.schema_hash ?? null,
  });
}

/** Plans and inputs never change, and hashing is the most expensive part of a record, so each is hashed only once. */
const hashes = new WeakMap<object, string>();
export function hashCached(value: Json | Plan): string {
  if (typeof value !== 'object' || value === null) return hashOfJson(value);
  const known = hashes.get(value);
  if (known !== undefined) return known;
  const hash = hashOfJson(value);
  hashes.set(value, hash);
  return hash;
}
