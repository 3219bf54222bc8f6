import type { FailureRevision } from '../../protocol/records.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { isoTime } from '../../protocol/time.ts';
import { failureOf, noteHumanAnswer, noteProgress, remember } from '../failures/failure-memory.ts';
import type { FailureMemory, FoldedFailure, MadeRevision } from '../failures/folded-failure.ts';
import { creditGuidance, resolveByProof } from '../failures/revise-memory.ts';
import type { Attempt, Step, Subject } from './attempts.ts';
import { hashOnce, type Notice, recordOfNotice } from './failure-records.ts';
import { newPressure } from './ledger.ts';
import { queueNotice, queueRevisions } from './outbox.ts';
import type { RunState } from './state.ts';

/**
 * The failure memory as a reader of attempts: what failed, whether the guidance shown before an attempt helped, and
 * which failures a success has proved resolved.
 */
interface Read {
  memory: FailureMemory;
  revisions: FailureRevision[];
}

/** Reads the attempts of a step since the last time into the run's memory. Called in step order. */
export function readFailures(state: RunState, step: Step): void {
  const { memory, revisions } = readAttempts(state, state.failures, step);
  state.failures = memory;
  queueRevisions(state, revisions);
  step.attempts_read = step.attempts.length;
}

/** The memory as it would be with the attempts of this step that it has not read yet. */
export const memoryWith = (state: RunState, step: Step): FailureMemory =>
  readAttempts(state, state.failures, step).memory;

/** The memory with everything under way: what the status tells in the middle of a batch. */
export const memoryNow = (state: RunState): FailureMemory =>
  state.loop.batch.reduce((memory, step) => readAttempts(state, memory, step).memory, state.failures);

/** What a run knows of its failures, one item per fingerprint: the query `failures`. */
export const failuresOf = (state: RunState): FoldedFailure[] =>
  memoryNow(state).by_fingerprint.toSorted((one, other) => one.last_ordinal - other.last_ordinal);

/** True when the step has failed since the memory last read it. */
export const hasUnread = (step: Step): boolean =>
  step.attempts.some(({ record }, index) => index >= step.attempts_read && record !== undefined);

function readAttempts(state: RunState, before: FailureMemory, step: Step): Read {
  let memory = before;
  const revisions: FailureRevision[] = [];
  for (let index = step.attempts_read; index < step.attempts.length; index += 1) {
    const attempt = step.attempts[index];
    if (attempt === undefined) continue;
    const read = readAttempt(state, memory, step, attempt);
    memory = read.memory;
    for (const made of read.revisions) {
      revisions.push({
        ...made,
        run_id: state.run.run_id,
        step_id: step.step_id,
        attempt: attempt.n,
        created_at: isoTime(attempt.at),
      });
    }
  }
  return { memory, revisions };
}

function readAttempt(
  state: RunState,
  before: FailureMemory,
  step: Step,
  attempt: Attempt,
): { memory: FailureMemory; revisions: MadeRevision[] } {
  const { outcome, record } = attempt;
  const { tool } = step.call;
  if (outcome?.class === 'failed' && record !== undefined) {
    const tool_schema_hash = state.run.manifest[tool]?.schema_hash;
    const memory = remember(before, record, { tool_schema_hash, query: outcome.query ?? null });
    return creditGuidance(memory, shownFingerprints(state, step, attempt), {
      ok: false,
      fingerprint: record.fingerprint,
    });
  }
  // A success proves nothing about failures of steps beside it, and a run without failures never pays for a hash.
  const mayProve = attempt.may_prove === true || step.attempts.some((own) => own.record !== undefined);
  if (outcome?.class !== 'ok' || !mayProve) return { memory: before, revisions: [] };
  const credited = creditGuidance(before, shownFingerprints(state, step, attempt), { ok: true });
  const proved = resolveByProof(credited.memory, {
    tool_name: tool,
    input_hash: hashOnce(step.call.input),
    query: outcome.query ?? null,
  });
  return { memory: proved.memory, revisions: [...credited.revisions, ...proved.revisions] };
}

/**
 * The failures that the attempt was shown guidance about. A planner's choice says nothing about guidance for tools: the
 * attempt that follows will tell.
 */
function shownFingerprints(state: RunState, step: Step, { guidance }: Attempt): string[] {
  if (guidance === undefined) return [];
  return guidance.rows
    .filter(({ reflection_id, fingerprint }) => {
      if (reflection_id !== undefined) return false;
      return step.kind === 'tool' || failureOf(state.failures, fingerprint)?.tool_name === step.call.tool;
    })
    .map(({ fingerprint }) => fingerprint);
}

export const occurrencesOf = (state: RunState, fingerprint: string): number =>
  failureOf(state.failures, fingerprint)?.since_progress ?? 0;

export function progressMade(state: RunState): void {
  if (state.failures.total > 0) state.failures = noteProgress(state.failures);
}

export function humanAnswered(state: RunState, fingerprint: string): void {
  state.failures = noteHumanAnswer(state.failures, fingerprint);
}

/** Records something that no attempt did, in the memory and for the store. */
export function recordNotice(state: RunState, subject: Subject, notice: Notice, now: number): FailureRecord {
  const { record, manifest } = recordOfNotice(state, subject, notice, now);
  state.failures = remember(state.failures, record);
  queueNotice(state, record, manifest);
  return record;
}

/** A person said what to do instead: a failure signal of its own. */
export function recordCorrection(state: RunState, subject: Subject, now: number): void {
  const notice = { signal_type: 'human_correction', kind: 'correction', error_code: 'CORRECTED' } as const;
  recordNotice(state, subject, { ...notice, tool_name: subject.tool }, now);
}

/** Records each budget that has newly passed its soft or near mark. */
export function recordPressure(state: RunState, subject: Subject, now: number): void {
  for (const [index, { budget, level }] of newPressure(state).entries()) {
    const notice: Notice = {
      signal_type: 'budget_pressure',
      kind: level === 'near' ? 'near_limit' : 'soft_limit',
      error_code: `${budget}_${level}`.toUpperCase(),
      tool_name: null,
      index,
      budget,
    };
    recordNotice(state, subject, notice, now);
  }
}
