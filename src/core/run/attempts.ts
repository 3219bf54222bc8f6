import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { UnknownEffect } from '../../protocol/effects.ts';
import type { RunLesson } from '../../protocol/lessons.ts';
import type { Decision, EditedInput } from '../../protocol/questions.ts';
import type { Amounts } from '../../protocol/run.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type {
  CallFailed,
  CallOutcome,
  CallSucceeded,
  Constraints,
  FailedOutput,
  Guidance,
  RetryContext,
} from '../../protocol/tools.ts';
import type { Stall } from '../failures/loop-watch.ts';
import { isInfrastructure } from '../retry/strategies.ts';

/** The work that a step does: a tool call, or one turn of the planner. */
export interface Call {
  /** Position in the given plan; null for a call that the planner chose. */
  plan_index: number | null;
  phase: string;
  tool: string;
  input: Json;
  output_schema?: Json;
  /** The value of the tool's own `loopKey` for this input. */
  loop_key?: string;
  /** The id that a model gave its call. */
  call_id?: string;
  /** The planner's turn that chose it. */
  turn?: number;
  /** A person changed the input before the call ran. `input` is the changed one. */
  edited?: EditedInput;
}

/**
 * One guarded unit of work and every attempt at it. This list is the only place where attempts are kept: failure
 * memory, lessons, evaluations, questions and status are computed from it.
 */
export interface Step {
  kind: 'tool' | 'planner';
  step_id: number;
  call: Call;
  /** How many attempts the ledger lets this step have. */
  granted: number;
  /** All attempts while the step is under way; afterwards only those that are still needed. */
  attempts: Attempt[];
  /** Null while the step is under way. */
  end: StepEnd | null;
  /** How many attempts the failure memory has read. */
  attempts_read: number;
  /** When the backoff ends; null while the step is not backing off. */
  waiting_until: number | null;
  /** The idempotency key of all its attempts, from the first one on. */
  key?: string;
  /** Its evaluation has been queued: its retries have ended. */
  evaluated?: true;
  /** A later step has solved this failure, so no lesson is learnt from it any more. */
  answered?: true;
}

export interface Attempt {
  /** From 1. */
  n: number;
  /** When it ended; while it is under way, when it began. */
  at: number;
  /** The backoff before it. */
  waited_ms: number;
  /** The guidance that the attempt was shown; absent when there was none. */
  guidance?: Guidance;
  /** The constraints that the attempt had to keep; absent when there were none. */
  constraints?: Constraints;
  /** Null while it is under way. */
  outcome: CallOutcome | null;
  /** The record of a failed attempt. An attempt that failed because its worker was lost has none. */
  record?: FailureRecord;
  /** A person superseded the failure before the memory read it. */
  superseded?: true;
  /** The lessons that the memory returned for this failure. */
  recalled?: RunLesson[];
  /** The person's answer that allowed this attempt. */
  answer?: Allowance;
  /** The run had failures when this attempt began, so its success may prove one of them resolved. */
  may_prove?: true;
}

export type FailedAttempt = Attempt & { outcome: CallFailed };

/** A person's answer that lets a step run once more. */
export interface Allowance {
  decision: Extract<Decision, 'retry' | 'correct' | 'not_done'>;
  text: string | null;
  by: string | null;
}

/** How a step ended. Its outcome, failure and record are those of the last attempt. */
export type StepEnd =
  | { kind: 'ok' }
  /** An earlier pass did this side effect, and its output answers the call. */
  | { kind: 'reused'; artifact_id: string; bytes: number }
  /** A person said that the side effect happened, or an earlier pass did it without a usable output. */
  | { kind: 'confirmed'; known: string; artifact_id: string | null; bytes: number }
  /** An identical call may have taken effect, so this one does not run before a person has decided. */
  | { kind: 'held'; effect: UnknownEffect }
  /** It is not known whether the side effect happened. `known` is what is known. */
  | { kind: 'unknown'; known: string }
  | { kind: 'failed'; reason: string }
  | { kind: 'budget'; budget: keyof Amounts }
  /** `known` says who left it out, and what that person wrote. */
  | { kind: 'skipped'; known?: string }
  /** `policy`: no question was left, so the policy decided. */
  | { kind: 'refused'; status: 'denied' | 'timed_out' | 'policy' }
  /** `effect_unknown`: a side effect was under way and may have happened. */
  | { kind: 'cancelled'; effect_unknown?: true }
  /** The call would have repeated itself, and got guidance instead of running. */
  | { kind: 'guided'; stall: Stall; shown?: string }
  /** It repeated itself again after guidance: a person or the policy decides. */
  | { kind: 'stuck'; stall: Stall };

export type StepStatus =
  | 'ok'
  | 'failed'
  | 'skipped'
  | 'denied'
  | 'timed_out'
  | 'policy'
  | 'cancelled'
  | 'guided'
  | 'unknown';

/** The step and attempt that a question or a notice is about. */
export interface Subject {
  step_id: number;
  phase: string;
  tool: string;
  attempt: number;
}

/** The subject of what happens before the first step. */
export const START: Subject = { step_id: 0, phase: 'start', tool: '', attempt: 0 };

export const openStep = (kind: Step['kind'], stepId: number, call: Call, granted: number): Step => ({
  kind,
  step_id: stepId,
  call,
  granted,
  attempts: [],
  end: null,
  attempts_read: 0,
  waiting_until: null,
});

/** The number of attempts so far, including those that have been folded away. */
export const attemptCount = (step: Step): number => step.attempts.at(-1)?.n ?? 0;

export const subjectOf = (step: Step): Subject => ({
  step_id: step.step_id,
  phase: step.call.phase,
  tool: step.call.tool,
  attempt: attemptCount(step),
});

export function statusOfStep({ end }: Step): StepStatus {
  switch (end?.kind) {
    case 'ok':
    case 'reused':
    case 'confirmed':
      return 'ok';
    case 'unknown':
    case 'held':
      return 'unknown';
    case 'skipped':
    case 'cancelled':
      return end.kind;
    case 'refused':
      return end.status;
    case 'guided':
    case 'stuck':
      return 'guided';
    case 'failed':
    case 'budget':
    case undefined:
      return 'failed';
  }
}

/** The successful outcome that ended the step, if one did. */
export function successOf(step: Step): CallSucceeded | null {
  const outcome = step.end?.kind === 'ok' ? step.attempts.at(-1)?.outcome : null;
  return outcome?.class === 'ok' ? outcome : null;
}

export const artifactOf = (step: Step): string | null =>
  step.end?.kind === 'reused' || step.end?.kind === 'confirmed'
    ? step.end.artifact_id
    : (successOf(step)?.artifact_id ?? null);

/** The failure of the last attempt, if it failed. */
export function lastFailure(step: Step): CallFailed | null {
  const outcome = step.attempts.at(-1)?.outcome;
  return outcome?.class === 'failed' ? outcome : null;
}

/** A step that a person left out after it had failed has printed something too. */
const PRINTED: ReadonlySet<string> = new Set(['failed', 'unknown', 'skipped']);

/** What the last attempt of a step without success printed, for whoever chose the call. */
export const failedOutputOf = (step: Step): FailedOutput | undefined =>
  step.end !== null && PRINTED.has(step.end.kind) ? lastFailure(step)?.output : undefined;

/** Drops the text that failed attempts printed from the step. Its artifact id stays. */
export function dropOutputText({ attempts }: Step): void {
  for (const attempt of attempts) {
    const { outcome } = attempt;
    if (outcome?.class !== 'failed' || outcome.output?.text === undefined) continue;
    const { artifact_id, bytes } = outcome.output;
    attempt.outcome = { ...outcome, output: { artifact_id, bytes } };
  }
}

/** The last attempt that left a failure record. */
export function lastRecorded({ attempts }: Step): RecordedAttempt | undefined {
  for (let index = attempts.length - 1; index >= 0; index -= 1) {
    const attempt = attempts[index];
    if (attempt !== undefined && hasRecord(attempt)) return attempt;
  }
  return undefined;
}

type RecordedAttempt = Attempt & { record: FailureRecord };
const hasRecord = (attempt: Attempt): attempt is RecordedAttempt => attempt.record !== undefined;

/** Describes the failure of a step for the planner, the reviewer and the archive. */
export function summarizeFailure(step: Step): { error_code?: string; message_preview?: string } {
  const { end } = step;
  const failure = lastFailure(step);
  switch (end?.kind) {
    case 'failed':
    case 'skipped':
      return failure === null ? {} : { error_code: failure.error_code, message_preview: describeFailure(failure) };
    case 'unknown':
      return { error_code: 'EFFECT_UNKNOWN', message_preview: end.known };
    case 'budget':
      return { error_code: 'BUDGET' };
    case 'cancelled':
      return end.effect_unknown === true ? { error_code: 'EFFECT_UNKNOWN' } : {};
    case 'guided':
      return { error_code: end.stall.rule, ...defined({ message_preview: end.shown }) };
    default:
      return {};
  }
}

/** A planner has to know that an effect happened, or it would repeat the call for the sake of its output. */
export const describeFailure = ({ certainty, message_preview }: CallFailed): string =>
  certainty === 'done' ? `The call took effect, but its output cannot be used: ${message_preview}` : message_preview;

/** One line for each failed attempt, for a person who has to decide. */
export const listFailedAttempts = (step: Step): string[] =>
  step.attempts.flatMap(({ n, outcome }) =>
    outcome?.class === 'failed'
      ? [`attempt ${n}: ${outcome.error_code} ${outcome.message_preview}`.slice(0, TRIED_CHARS)]
      : [],
  );
const TRIED_CHARS = 200;

export interface RetriesUsed {
  retries: number;
  infrastructure: number;
}

/**
 * How many of the attempts up to the n-th were retries, counted apart for lost workers. An attempt that a person
 * allowed is not a retry.
 */
export function retriesUsed(step: Step, n = attemptCount(step)): RetriesUsed {
  const used = { retries: 0, infrastructure: 0 };
  for (let index = 1; index < step.attempts.length; index += 1) {
    const attempt = step.attempts[index];
    const before = step.attempts[index - 1]?.outcome;
    if (attempt === undefined || attempt.n > n || attempt.answer !== undefined || before?.class !== 'failed') continue;
    if (isInfrastructure(before.category)) used.infrastructure += 1;
    else used.retries += 1;
  }
  return used;
}

/** True when a person allowed one more attempt after the step had failed. That attempt gets no retries of its own. */
export function isOneMoreAttempt({ attempts }: Step): boolean {
  for (const { n, answer } of attempts) if (n > 1 && answer !== undefined) return true;
  return false;
}

/** Describes the last failure for the prompt of the next attempt. Null before the first failure. */
export function buildRetryContext(step: Step): RetryContext | null {
  const failed = lastRecorded(step);
  if (failed?.outcome?.class !== 'failed') return null;
  const { category, missed, detected } = failed.outcome;
  return {
    category,
    retry: retriesUsed(step, failed.n).retries + 1,
    missed: missed ?? [],
    ...defined({ feedback: detected }),
  };
}

/** How long sub-runs of this step waited for people. The run's time budget leaves this time out. */
export function personMs(step: Step): number {
  let total = 0;
  for (const { outcome } of step.attempts)
    if (outcome !== null && 'person_ms' in outcome) total += outcome.person_ms ?? 0;
  return total;
}
