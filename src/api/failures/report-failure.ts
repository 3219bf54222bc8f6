import { v7 as uuidV7 } from 'uuid';
import { emptyFailureMemory, type FailureMemory } from '../../core/failures/folded-failure.ts';
import { escalateRepeats } from '../../core/failures/escalation.ts';
import { findFailure, addFailure } from '../../core/failures/failure-memory.ts';
import { foldFailures } from '../../core/failures/fold-failures.ts';
import { selectGuidance } from '../../core/failures/guidance.ts';
import { defined } from '../../protocol/json.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { StoredFailureRevision } from '../../store/failure-revisions.ts';
import type { ApiDeps } from '../api-context.ts';
import { Problem } from '../problem.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import { type FailureReport, makeRecord } from './reported-failure.ts';

/** The most failures of one external run. A run that reports more is not learning from them. */
const MAX_RECORDS = 5_000;

export interface StoredFailure {
  failure_id: string;
  fingerprint: string;
  occurrence_count: number;
  seen_before: boolean;
  guidance: ReturnType<typeof selectGuidance>['rows'];
  escalation: ReturnType<typeof escalateRepeats>;
}

/** Stores a failure that happened elsewhere and returns guidance for the next attempt there. */
export async function reportFailure(
  { inspector, store }: ApiDeps,
  given: FailureReport,
  { key, redact, tenant }: { key: string | undefined; redact: Redact; tenant: string | undefined },
): Promise<StoredFailure> {
  await refuseOwnRun(inspector, given.run_id);
  const failureId = key === undefined ? `ext-${uuidV7()}` : `ext-${key.slice(0, 32)}`;
  const { record, report } = makeRecord(given, { failureId, redact, now: new Date() });
  const before = await store.records.get(failureId);
  if (before === null) {
    await refuseDanglingPointers(store, given);
    await store.artifacts.put(new TextEncoder().encode(report.text), 'application/json', report.id);
    const { refused } = await store.records.append([record], { tenant: tenant ?? null });
    if (refused[0]) throw new Problem('bad_request', `The record cannot be stored: ${refused[0].reason}`);
  } else if (!pointsTo(before, report.id)) {
    throw new Problem('idempotency_conflict', 'This Idempotency-Key was used with another report. Use a new key.');
  }
  return answerFor(store, before ?? record, tenant);
}

async function refuseOwnRun(inspector: ApiDeps['inspector'], runId: string): Promise<void> {
  if (!(await inspector.exists(runId))) return;
  const detail = `The run ${runId} belongs to this server and records its own failures. Report only runs that run elsewhere.`;
  throw new Problem('own_run', detail);
}

/** Refuses a report with a reference to an artifact that does not exist. */
async function refuseDanglingPointers({ artifacts }: ApiDeps['store'], { context_refs: refs = {} }: FailureReport) {
  const named = [...(refs.manifest_id ? [refs.manifest_id] : []), ...(refs.artifact_ids ?? [])];
  const known = await artifacts.has(named);
  const missing = named.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  const errors = missing.map((id) => ({ path: '$.context_refs', message: `there is no artifact ${id}` }));
  throw new Problem('bad_request', 'Refer only to artifacts of this server, or leave them out.', { errors });
}

const pointsTo = ({ context_refs: refs }: FailureRecord, id: string): boolean =>
  refs.manifest_id === id || (refs.artifact_ids ?? []).includes(id);

/** Uses only what was known when the record was made, so that a repeated request gets the same answer. */
async function answerFor(
  store: ApiDeps['store'],
  record: FailureRecord,
  tenant: string | undefined,
): Promise<StoredFailure> {
  const [all, revisions] = await Promise.all([
    store.records.forRun(record.run_id, tenant ?? null),
    store.revisions.forRun(record.run_id),
  ]);
  if (all.length > MAX_RECORDS) {
    throw new Problem(
      'limit_reached',
      `The run ${record.run_id} has reported ${all.length} failures, which is the limit. Start another run.`,
    );
  }
  const position = all.findIndex((one) => one.failure_id === record.failure_id);
  const until = position === -1 ? [...all, record] : all.slice(0, position + 1);
  const memory = buildMemory(
    until,
    revisions.filter((revision) => revision.created_at <= record.created_at),
  );
  const { escalate_at, guidance_k: k, guidance_max_chars: maxChars } = DEFAULT_POLICY.failures;
  const count = findFailure(memory, record.fingerprint)?.occurrence_count ?? 1;
  const { kind, error_code } = record.observed_outcome;
  const situation = { ...record.attempted_action, ...record, error_code };
  return {
    failure_id: record.failure_id,
    fingerprint: record.fingerprint,
    occurrence_count: count,
    seen_before: count > 1 || (await wasSeen(store, record, tenant ?? null)),
    guidance: selectGuidance(memory, situation, { k, maxChars }).rows,
    escalation: escalateRepeats({ kind, occurrences: count, escalate_at }),
  };
}

/** Builds the failure memory that a run of our own would have in its state. */
function buildMemory(records: readonly FailureRecord[], revisions: readonly StoredFailureRevision[]): FailureMemory {
  let memory = emptyFailureMemory();
  for (const record of records) memory = addFailure(memory, record);
  const folded = foldFailures(
    records,
    revisions.map((revision) => ({ ...revision, failure_id: revision.failure_id ?? '' })),
  );
  const standings = new Map(folded.map((standing) => [standing.fingerprint, standing]));
  return {
    ...memory,
    by_fingerprint: memory.by_fingerprint.map((failure) => ({
      ...failure,
      status: standings.get(failure.fingerprint)?.status ?? failure.status,
    })),
  };
}

const RECALL_MS = 2_000;

/**
 * Whether an earlier run of the tenant had this failure, or left a lesson about it. If the store cannot be searched, it counts as
 * not seen, because memory must never block a report.
 */
async function wasSeen(
  { reflections, knownFailures }: ApiDeps['store'],
  record: FailureRecord,
  tenant: string | null,
): Promise<boolean> {
  const { failure_id, fingerprint, signal_type: error_type, attempted_action, observed_outcome: outcome } = record;
  const { message_preview: text = '', error_code } = outcome;
  const { tool_name } = attempted_action;
  try {
    const earlier = await knownFailures.seen({
      text,
      fingerprint,
      tenant,
      except_failure_id: failure_id,
      ...defined({ tool: tool_name ?? undefined, code: error_code }),
    });
    if (earlier !== null) return true;
    const lesson = { error_type, fingerprint, tool_name, error_text: text, description: '' };
    const reader = { scope: 'global', agent: null, tenant } as const;
    return (await reflections.recallForFailure({ ...reader, ...lesson, limit: 1, timeout_ms: RECALL_MS })).length > 0;
  } catch {
    return false;
  }
}
