import type { FailureRevision } from '../../protocol/records.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { isoTime } from '../../protocol/time.ts';
import { findFailure, noteHumanAnswer, noteProgress, addFailure } from '../failures/failure-memory.ts';
import type { FailureMemory, FoldedFailure, NewRevision } from '../failures/folded-failure.ts';
import { creditGuidance, resolveByProof, supersedeFailure } from '../failures/revise-memory.ts';
import { type Attempt, START, type Step, type Subject, subjectOf } from './attempts.ts';
import { hashCached, type Notice, makeNoticeRecord } from './failure-records.ts';
import { newPressure } from './ledger.ts';
import { queueNotice, queueRevisions } from './outbox.ts';
import type { RunState } from './state.ts';

/** Adds the attempts of a step that have not been read yet to the run's failure memory. Called in step order. */
export function readFailures(state: RunState, step: Step): void {
  const { memory, revisions } = readNew(state, step);
  state.failures = memory;
  if (revisions.length > 0) queueRevisions(state, revisions);
  step.attempts_read = step.attempts.length;
}

/** Returns the memory including the unread attempts of this step, without changing the state. */
export const memoryWith = (state: RunState, step: Step): FailureMemory => readNew(state, step).memory;

/** Returns the memory including all steps under way, for a status in the middle of a batch. */
export const memoryNow = (state: RunState): FailureMemory =>
  state.loop.batch.reduce(
    (memory, step) => readAttempts(state, memory, step, step.attempts_read).memory,
    state.failures,
  );

/** Returns the failures of a run, one item per fingerprint, for the query `failures`. */
export const failuresOf = (state: RunState): FoldedFailure[] =>
  memoryNow(state).by_fingerprint.toSorted((one, other) => one.last_ordinal - other.last_ordinal);

/** True when the step has failed since the memory last read it. */
export const hasUnread = (step: Step): boolean =>
  step.attempts.some(({ record }, index) => index >= step.attempts_read && record !== undefined);

/**
 * The result of reading attempts into the failure memory: which failures there are, whether the guidance shown before
 * an attempt helped, and which failures a success has proved resolved.
 */
interface ReadResult {
  memory: FailureMemory;
  revisions: FailureRevision[];
}

/**
 * What was read of a step so far. Each attempt is read once, although the memory is needed before every attempt. It holds
 * while the run's memory is the same one: attempts that have ended do not change in what is read here.
 */
interface ReadSoFar extends ReadResult {
  before: FailureMemory;
  /** The attempts from `from` up to `to` are read. */
  from: number;
  to: number;
}
const reads = new WeakMap<Step, ReadSoFar>();

/** Reads the attempts of a step that the run's failure memory has not read yet. */
function readNew(state: RunState, step: Step): ReadResult {
  const { failures: before } = state;
  const { attempts, attempts_read: from } = step;
  const known = reads.get(step);
  const isValid = known !== undefined && known.before === before && known.from === from && known.to <= attempts.length;
  const soFar = isValid ? known : { memory: before, revisions: [], to: from };
  const { memory, revisions } = readAttempts(state, soFar.memory, step, soFar.to);
  const all = revisions.length === 0 ? soFar.revisions : [...soFar.revisions, ...revisions];
  // An attempt that is under way is read again when it has ended.
  const isRunning = attempts.at(-1)?.outcome === null;
  if (!isRunning) reads.set(step, { before, from, to: attempts.length, memory, revisions: all });
  return { memory, revisions: all };
}

function readAttempts(state: RunState, before: FailureMemory, step: Step, from: number): ReadResult {
  let memory = before;
  const revisions: FailureRevision[] = [];
  for (let index = from; index < step.attempts.length; index += 1) {
    const attempt = step.attempts[index];
    if (attempt === undefined) continue;
    const read = readAttempt(state, memory, step, attempt);
    memory = read.memory;
    const about = { run_id: state.run.run_id, step_id: step.step_id, attempt: attempt.n };
    for (const made of read.revisions) revisions.push({ ...made, ...about, created_at: isoTime(attempt.at) });
  }
  return { memory, revisions };
}

function readAttempt(
  state: RunState,
  before: FailureMemory,
  step: Step,
  attempt: Attempt,
): { memory: FailureMemory; revisions: NewRevision[] } {
  const { outcome, record } = attempt;
  const { tool } = step.call;
  if (outcome?.class === 'failed' && record !== undefined) {
    const tool_schema_hash = state.run.manifest[tool]?.schema_hash;
    const added = addFailure(before, record, { tool_schema_hash, query: outcome.query ?? null });
    const memory = attempt.superseded === true ? supersedeFailure(added, record.fingerprint) : added;
    return creditGuidance(memory, shownFingerprints(state, step, attempt), {
      ok: false,
      fingerprint: record.fingerprint,
    });
  }
  // A success proves nothing about failures of parallel steps, and a run without failures needs no hash.
  const mayProve = attempt.may_prove === true || step.attempts.some((own) => own.record !== undefined);
  if (outcome?.class !== 'ok' || !mayProve) return { memory: before, revisions: [] };
  const credited = creditGuidance(before, shownFingerprints(state, step, attempt), { ok: true });
  const proved = resolveByProof(credited.memory, {
    tool_name: tool,
    input_hash: hashCached(step.call.input),
    query: outcome.query ?? null,
  });
  return { memory: proved.memory, revisions: [...credited.revisions, ...proved.revisions] };
}

/**
 * The fingerprints that the attempt was shown guidance about. Guidance about a tool is not credited to a planner's
 * turn, because only the attempt that follows shows whether it helped.
 */
function shownFingerprints(state: RunState, step: Step, { guidance }: Attempt): string[] {
  const shown: string[] = [];
  for (const { reflection_id, fingerprint } of guidance?.rows ?? []) {
    if (reflection_id !== undefined) continue;
    const isAboutStep = step.kind === 'tool' || findFailure(state.failures, fingerprint)?.tool_name === step.call.tool;
    if (isAboutStep) shown.push(fingerprint);
  }
  return shown;
}

export const occurrencesOf = (state: RunState, fingerprint: string): number =>
  findFailure(state.failures, fingerprint)?.since_progress ?? 0;

export function recordProgress(state: RunState): void {
  if (state.failures.total > 0) state.failures = noteProgress(state.failures);
}

export function recordHumanAnswer(state: RunState, fingerprint: string): void {
  state.failures = noteHumanAnswer(state.failures, fingerprint);
}

/** Records an event that is not a failed attempt, in the memory and for the store. */
export function recordNotice(state: RunState, subject: Subject, notice: Notice, now: number): FailureRecord {
  const { record, artifacts } = makeNoticeRecord(state, subject, notice, now);
  state.failures = addFailure(state.failures, record);
  queueNotice(state, record, artifacts);
  return record;
}

/** The last step that ended in this pass, or the start of the run. */
export function lastSubject({ loop }: RunState): Subject {
  const last = loop.steps.at(-1);
  return last === undefined ? START : subjectOf(last);
}

/** Records each budget that has newly passed its soft or near mark. */
export function recordPressure(state: RunState, subject: Subject, now: number): void {
  for (const { budget, level } of newPressure(state)) {
    const notice: Notice = {
      signal_type: 'budget_pressure',
      kind: level === 'near' ? 'near_limit' : 'soft_limit',
      error_code: `${budget}_${level}`.toUpperCase(),
      tool_name: null,
      // Several turns can follow the same step, so warnings are numbered through the whole run.
      index: state.failures.by_signal['budget_pressure'] ?? 0,
      budget,
    };
    recordNotice(state, subject, notice, now);
  }
}
