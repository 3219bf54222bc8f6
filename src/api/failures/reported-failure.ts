import { defined } from '../../protocol/json.ts';
import type { z } from 'zod';
import { recommendAdjustment } from '../../core/failures/adjustment.ts';
import { defaultSeverity } from '../../core/failures/severity.ts';
import { fingerprintOf } from '../../core/failures/fingerprint.ts';
import { salientLine } from '../../core/failures/salient-line.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import { redactShown } from '../../core/redaction/shown.ts';
import { actionId, canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import { CAP } from '../../protocol/caps.ts';
import type { TextArtifact } from '../../protocol/records.ts';
import type { FailureRecord, OutcomeKind, SignalType } from '../../protocol/schemas/failure-record.ts';
import type { SCHEMAS } from '../schemas/all-schemas.ts';

/** The tenant is no part of the report: it says whose the record is. */
export type FailureReport = Omit<z.infer<typeof SCHEMAS.FailureReport>, 'tenant'>;

export interface FailureFromElsewhere {
  record: FailureRecord;
  /** The whole report. The record refers to it, and it tells a repetition from another report. */
  report: TextArtifact;
}

/** Makes the record of a failure that happened elsewhere. Fingerprint, severity and guidance are computed as for our own runs. */
export function makeRecord(
  given: FailureReport,
  { failureId, redact, now }: { failureId: string; redact: Redact; now: Date },
): FailureFromElsewhere {
  const clean = redactShown(given, redact);
  const { signal_type, attempted_action: action = {} } = clean;
  const tool_name = clean.tool_name ?? action.tool_name ?? null;
  const error_code = clean.error_code ?? null;
  const message = clean.message ?? '';
  const kind = outcomeKind(signal_type, error_code);
  const text = canonicalJson({ failure_id: failureId, report: clean });
  const report = { id: sha256Hex(text), text };
  const record: FailureRecord = {
    failure_id: failureId,
    run_id: clean.run_id,
    step_id: clean.step_id,
    phase: clean.phase ?? 'unknown',
    signal_type,
    severity: clean.severity ?? defaultSeverity({ signal_type, kind }),
    fingerprint: fingerprintOf({
      signal_type,
      tool_name,
      error_code,
      query: clean.query ?? null,
      chunk_ids: clean.chunk_ids ?? null,
      message,
    }),
    attempted_action: {
      action_id: action.action_id ?? actionId(clean.run_id, clean.step_id),
      tool_name,
      tool_call_id: action.tool_call_id ?? null,
      input_hash: action.input_hash ?? null,
    },
    observed_outcome: {
      kind,
      ...defined({ error_code: error_code ?? undefined }),
      ...(message === '' ? {} : { message_preview: preview(message) }),
      duration_ms: 0,
    },
    recommended_adjustment: recommendAdjustment({ signal_type, kind, tool_name, error_code }),
    context_refs: withReport(clean.context_refs ?? {}, report.id),
    created_at: now.toISOString(),
  };
  return { record, report };
}

const preview = (message: string): string => salientLine(message).slice(0, CAP.messagePreviewChars);

const MAX_ARTIFACTS = 20;
/** Keeps a manifest that the reporter names and adds ours beside it. */
function withReport(refs: FailureRecord['context_refs'], id: string): FailureRecord['context_refs'] {
  if (refs.manifest_id === undefined) return { ...refs, manifest_id: id };
  return { ...refs, artifact_ids: [...(refs.artifact_ids ?? []).slice(0, MAX_ARTIFACTS - 1), id] };
}

/** The kind of outcome, from the signal of a report and its error code. */
function outcomeKind(signal: SignalType, errorCode: string | null): OutcomeKind {
  const code = (errorCode ?? '').toUpperCase();
  switch (signal) {
    case 'tool_error':
      if (code === 'POINTER_UNRESOLVED') return 'pointer_unresolved';
      return /TIMED?_?OUT/.test(code) ? 'timeout' : 'exception';
    case 'retrieval_failure':
      if (code === 'EMPTY_RESULT') return 'empty_result';
      return code === 'LOW_CONFIDENCE' ? 'low_confidence' : 'no_evidence';
    case 'contract_violation':
      return code === 'REPAIR_EXHAUSTED' ? 'repair_exhausted' : 'schema_violation';
    case 'loop_stall':
      return 'repeated_call';
    case 'human_correction':
      return 'correction';
    case 'budget_pressure':
      return code.endsWith('NEAR') ? 'near_limit' : 'soft_limit';
  }
}
