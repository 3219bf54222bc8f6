import type { FailureRevision } from '../../protocol/records.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { isoTime } from '../../protocol/time.ts';
import type { CallFailed, Constraints, Guidance } from '../../protocol/tools.ts';
import type { FailureMemory, FoldedFailure, MadeRevision } from '../failures/folded-failure.ts';
import type { GuidanceSituation } from '../failures/guidance.ts';
import { constraintsFor } from '../failures/constraints.ts';
import { creditGuidance, resolveByProof } from '../failures/revise-memory.ts';
import { failureOf, noteHumanAnswer, noteProgress, remember } from '../failures/failure-memory.ts';
import { selectGuidance } from '../failures/guidance.ts';
import { hashOnce, type MadeRecord, recordOfAttempt, recordOfNotice } from './failure-records.ts';
import { limitsOf, newPressure } from './ledger.ts';
import { foldRecalled, noteLessonUses, withLessons } from './lessons.ts';
import { enqueueFailure, enqueueRevisions } from './outbox.ts';
import type { Answered } from './questions.ts';
import type { MemoryEvent, RunState, StepInFlight } from './state.ts';

const NO_GUIDANCE: Guidance = { rows: [], text: '' };

/**
 * What one attempt gets to see: chosen from what the run knew when the batch began and from what this very step has
 * met since. Never from its neighbours in the batch, whose failures arrive in no fixed order.
 */
export function toldBefore(state: RunState, step: StepInFlight): { guidance: Guidance; constraints: Constraints } {
  // Who only observes changes nothing about a run, and a word of advice would.
  if (state.run.policy.mode === 'observe') return { guidance: NO_GUIDANCE, constraints: {} };
  if (state.failures.total === 0 && step.events.length === 0) {
    const guidance = state.lessons.length === 0 ? NO_GUIDANCE : withLessons(state, step, NO_GUIDANCE, null);
    return { guidance, constraints: {} };
  }
  const memory = foldEvents(state, state.failures, step).memory;
  const { guidance_k: k, guidance_max_chars: maxChars } = state.run.policy.failures;
  const situation = situationOf(memory, step);
  const chosen = selectGuidance(memory, situation, { k, maxChars });
  const guidance = withLessons(state, step, chosen, situation.fingerprint ?? null);
  return {
    guidance: step.correction === null ? guidance : withCorrection(guidance, step, step.correction, { k, maxChars }),
    constraints: step.kind === 'planner' ? {} : constraintsFor(memory, step.tool),
  };
}

/** What the attempt is about. A planner's turn is about what went wrong last, until there is progress again. */
function situationOf(memory: FailureMemory, step: StepInFlight): GuidanceSituation {
  const own = step.events.findLast((event) => event.kind === 'failure')?.record;
  if (own === undefined && step.kind === 'planner') {
    const open = Object.values(memory.by_fingerprint).filter(
      // A budget under pressure is no failure of a tool, and must not hide one.
      (failure) => failure.status === 'active' && failure.since_progress > 0 && failure.tool_name !== null,
    );
    const latest = open.sort((one, other) => other.last_ordinal - one.last_ordinal)[0];
    if (latest !== undefined) return latest;
  }
  return {
    tool_name: step.tool,
    phase: step.phase,
    fingerprint: own?.fingerprint,
    error_code: own?.observed_outcome.error_code,
    signal_type: own?.signal_type,
  };
}

/** A person's word goes first: it is about this step and newer than anything the run has learnt by itself. */
function withCorrection(
  guidance: Guidance,
  step: StepInFlight,
  correction: { text: string; by: string },
  limits: { k: number; maxChars: number },
): Guidance {
  const said = correction.text.replace(/\s+/g, ' ').slice(0, 400);
  const by = correction.by.replace(/\s+/g, ' ').slice(0, 60);
  const row = {
    fingerprint: step.events.findLast((event) => event.kind === 'failure')?.record.fingerprint ?? '',
    failure_id: step.events.findLast((event) => event.kind === 'failure')?.record.failure_id ?? '',
    relevance: 4,
    why: `${by} corrected this step`,
    text: `If step ${step.step_id} is tried again, then do as ${by} said: "${said}".`,
  };
  const rows = [row, ...guidance.rows].slice(0, Math.max(1, limits.k));
  return {
    rows,
    text: rows
      .map((kept) => kept.text)
      .join('\n')
      .slice(0, Math.max(limits.maxChars, row.text.length)),
  };
}

/** Records a failed attempt: with its step until the batch is folded, and in the outbox for the store. */
export function recordFailure(
  state: RunState,
  step: StepInFlight,
  guidance: Guidance,
  failure: CallFailed,
  how: { effectUnknown: boolean; willRetry: boolean; now: number },
): FailureRecord {
  const { record, manifest } = recordOfAttempt(state, step, guidance, failure, how);
  step.events.push({ kind: 'failure', record, query: failure.query ?? null });
  enqueueFailure(state, record, manifest);
  return record;
}

/** What an attempt proved about the guidance it saw and, when it succeeded, about the failures of the same call. */
export function noteAttempt(
  state: RunState,
  step: StepInFlight,
  guidance: Guidance,
  outcome: { ok: true; query: string | null } | { ok: false; fingerprint: string },
  now: number,
): void {
  noteLessonUses(state, step, guidance, outcome.ok);
  const fingerprints = guidance.rows
    .filter((row) => row.reflection_id === undefined && isAbout(state, step, row.fingerprint))
    .map((row) => row.fingerprint);
  const at = { attempt: step.attempt, at: now };
  if (fingerprints.length > 0) {
    step.events.push({
      kind: 'shown',
      fingerprints,
      ok: outcome.ok,
      failed_as: outcome.ok ? null : outcome.fingerprint,
      ...at,
    });
  }
  // Only a run that knows failures has anything to prove: a clean run never pays for a hash.
  const mayProve = state.failures.total > 0 || step.events.length > 0;
  if (outcome.ok && mayProve) {
    step.events.push({ kind: 'passed', input_hash: hashOnce(step.input), query: outcome.query, ...at });
  }
}

/** That a planner made a choice says nothing about guidance for tools: the attempt that follows will tell. */
const isAbout = (state: RunState, step: StepInFlight, fingerprint: string): boolean =>
  step.kind === 'tool' || failureOf(state.failures, fingerprint)?.tool_name === step.tool;

/** Takes what a step has met into the run's memory; called in step order, once for each stretch of attempts. */
export function foldStep(state: RunState, step: StepInFlight): void {
  foldRecalled(state, step);
  if (step.events.length === 0) return;
  const { memory, revisions } = foldEvents(state, state.failures, step);
  state.failures = memory;
  enqueueRevisions(state, revisions);
  step.events = [];
}

/** The memory with everything that is under way: what status tells in the middle of a batch. */
export const memoryNow = (state: RunState): FailureMemory =>
  state.batch.reduce((memory, step) => foldEvents(state, memory, step).memory, state.failures);

/** What a run knows of its failures, folded per fingerprint: the query `failures`. */
export const failuresOf = (state: RunState): FoldedFailure[] =>
  Object.values(memoryNow(state).by_fingerprint).sort((one, other) => one.last_ordinal - other.last_ordinal);

export const occurrencesOf = (state: RunState, fingerprint: string): number =>
  failureOf(state.failures, fingerprint)?.since_progress ?? 0;

export function progressMade(state: RunState): void {
  if (state.failures.total > 0) state.failures = noteProgress(state.failures);
}

export function humanAnswered(state: RunState, fingerprint: string): void {
  state.failures = noteHumanAnswer(state.failures, fingerprint);
}

/** A person said what to do instead: a signal of its own, remembered like any other failure. */
export function correctionByHuman(state: RunState, step: StepInFlight, answer: Answered, now: number): void {
  step.correction = { text: answer.text ?? '', by: answer.by ?? 'a person' };
  const what = { signal_type: 'human_correction', kind: 'correction', error_code: 'CORRECTED' } as const;
  rememberNotice(state, recordOfNotice(state, step, now, { ...what, tool_name: step.tool }));
}

/** Budgets that have newly passed their soft or near mark, each recorded once. */
export function notePressure(state: RunState, step: StepInFlight, now: number): void {
  const { soft, near } = state.run.policy.budget;
  for (const [index, { budget, level }] of newPressure(state.ledger, limitsOf(state.run), soft, near).entries()) {
    const notice = recordOfNotice(state, step, now, {
      signal_type: 'budget_pressure',
      kind: level === 'near' ? 'near_limit' : 'soft_limit',
      error_code: `${budget}_${level}`.toUpperCase(),
      tool_name: null,
      index,
      budget,
    });
    rememberNotice(state, notice);
  }
}

export function rememberNotice(state: RunState, { record, manifest }: MadeRecord): void {
  state.failures = remember(state.failures, record);
  enqueueFailure(state, record, manifest);
}

function foldEvents(
  state: RunState,
  before: FailureMemory,
  step: StepInFlight,
): { memory: FailureMemory; revisions: FailureRevision[] } {
  let memory = before;
  const revisions: FailureRevision[] = [];
  for (const event of step.events) {
    const revised = foldEvent(state, memory, step, event);
    memory = revised.memory;
    if (event.kind === 'failure') continue;
    for (const made of revised.revisions) {
      revisions.push({
        ...made,
        run_id: state.run.run_id,
        step_id: step.step_id,
        attempt: event.attempt,
        created_at: isoTime(event.at),
      });
    }
  }
  return { memory, revisions };
}

function foldEvent(
  state: RunState,
  memory: FailureMemory,
  step: StepInFlight,
  event: MemoryEvent,
): { memory: FailureMemory; revisions: MadeRevision[] } {
  switch (event.kind) {
    case 'failure': {
      const options = { tool_schema_hash: state.run.manifest[step.tool]?.schema_hash, query: event.query };
      return { memory: remember(memory, event.record, options), revisions: [] };
    }
    case 'shown': {
      const outcome = event.ok ? { ok: true as const } : { ok: false as const, fingerprint: event.failed_as ?? '' };
      return creditGuidance(memory, event.fingerprints, outcome);
    }
    case 'passed':
      return resolveByProof(memory, { tool_name: step.tool, input_hash: event.input_hash, query: event.query });
  }
}
