import { changeFailures } from './failure-memory.ts';
import type { FailureMemory, NewRevision, FoldedFailure, RevisedMemory } from './folded-failure.ts';
import { triggerKeys } from './trigger.ts';
import type { Trigger } from './trigger.ts';

export type AttemptOutcome = { ok: true } | { ok: false; fingerprint: string };

const countRevision = (
  failure: FoldedFailure,
  kind: 'shown_helpful' | 'shown_harmful',
  count: number,
): NewRevision => ({
  revision_id: `${failure.first_failure_id}:${kind}:${count}`,
  fingerprint: failure.fingerprint,
  failure_id: failure.last_failure_id,
  kind,
});

/**
 * Rates the guidance that was shown before an attempt: helpful if the attempt succeeded, harmful if it failed with the
 * same fingerprint, otherwise neither.
 */
export const creditGuidance = (
  memory: FailureMemory,
  shown: readonly string[],
  outcome: AttemptOutcome,
): RevisedMemory => {
  if (shown.length === 0 || (!outcome.ok && !shown.includes(outcome.fingerprint))) return { memory, revisions: [] };
  const revisions: NewRevision[] = [];
  const credited = changeFailures(memory, (failure) => {
    if (!shown.includes(failure.fingerprint)) return failure;
    if (outcome.ok) {
      const helpful_count = failure.helpful_count + 1;
      revisions.push(countRevision(failure, 'shown_helpful', helpful_count));
      return { ...failure, helpful_count };
    }
    if (outcome.fingerprint !== failure.fingerprint) return failure;
    const harmful_count = failure.harmful_count + 1;
    revisions.push(countRevision(failure, 'shown_harmful', harmful_count));
    return { ...failure, harmful_count };
  });
  return revisions.length === 0 ? { memory, revisions } : { memory: credited, revisions };
};

const statusRevision = (failure: FoldedFailure, kind: 'resolved' | 'superseded'): NewRevision => ({
  revision_id: `${failure.last_failure_id}:${kind}`,
  fingerprint: failure.fingerprint,
  failure_id: failure.last_failure_id,
  kind,
});

/**
 * Notes that a trigger has succeeded. A fingerprint is resolved when every trigger that caused it has succeeded since;
 * the absence of failures alone proves nothing.
 */
export const resolveByProof = (memory: FailureMemory, trigger: Trigger): RevisedMemory => {
  const passed = triggerKeys(trigger);
  const revisions: NewRevision[] = [];
  const touched = memory.by_fingerprint.some(
    (failure) => failure.status === 'active' && failure.open_triggers.some((key) => passed.includes(key)),
  );
  if (!touched) return { memory, revisions };
  const resolved = changeFailures(memory, (failure) => {
    if (failure.status !== 'active' || !failure.open_triggers.some((key) => passed.includes(key))) return failure;
    const open_triggers = failure.open_triggers.filter((key) => !passed.includes(key));
    if (open_triggers.length > 0 || failure.unprovable) return { ...failure, open_triggers };
    revisions.push(statusRevision(failure, 'resolved'));
    return { ...failure, open_triggers, status: 'resolved' };
  });
  return { memory: resolved, revisions };
};

/** Marks one failure as superseded, because a person said so. */
export const supersedeFailure = (memory: FailureMemory, fingerprint: string): FailureMemory =>
  changeFailures(memory, (failure) =>
    failure.fingerprint === fingerprint ? { ...failure, status: 'superseded' } : failure,
  );

/**
 * Marks failures of a tool's old schema as superseded, because they no longer apply. Failures whose schema is unknown
 * stay.
 */
export const supersede = (memory: FailureMemory, toolName: string, newSchemaHash: string): RevisedMemory => {
  const revisions: NewRevision[] = [];
  const next = changeFailures(memory, (failure) => {
    const old = failure.tool_schema_hash;
    if (failure.status !== 'active' || failure.tool_name !== toolName || old === null || old === newSchemaHash) {
      return failure;
    }
    revisions.push(statusRevision(failure, 'superseded'));
    return { ...failure, status: 'superseded' };
  });
  return revisions.length === 0 ? { memory, revisions } : { memory: next, revisions };
};
