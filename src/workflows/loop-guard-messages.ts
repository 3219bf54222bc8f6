import { ApplicationFailure } from '@temporalio/common';
import { defineSignal, setHandler } from '@temporalio/workflow';
import { applyOverride, listOverrides } from '../core/guardrails/family-overrides.ts';
import { completeLoop } from '../core/guardrails/guard-family.ts';
import {
  checkPolicyMessage,
  type FamilyPolicy,
  mergeGuardPolicy,
  type PolicyMessage,
} from '../core/guardrails/guard-policy.ts';
import { checkReport } from '../core/guardrails/loop-report.ts';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { buildGuardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import { buildLoopTrace } from '../core/guardrails/loop-trace.ts';
import type { GuardPolicy, GuardState } from '../core/guardrails/guard-state.ts';
import { refuse, type Refusal } from '../core/guardrails/refusal.ts';
import type { GuardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../core/guardrails/loop-answer.ts';
import type { LoopReport } from '../core/guardrails/loop-report.ts';
import type { OverrideAnswer } from '../core/guardrails/family-overrides.ts';
import { defined, isRecord } from '../protocol/json.ts';
import { CAP } from '../protocol/caps.ts';
import { parseMessage } from '../protocol/messages.ts';
import { GUARD_MESSAGE, GUARD_QUERY, QUERY } from '../protocol/names.ts';
import type { RequestProblem } from '../protocol/run.ts';
import type { GuardTrace, IgnoredSignal, ReportExtras } from '../core/guardrails/loop-guard.ts';
import { answerQuery, handleUpdate } from './readable.ts';

/** The state of a guard workflow. Every message replaces `state` as a whole, between two awaits. */
export interface Guard {
  family: string;
  policy: GuardPolicy;
  /** Who set the policy before the first report; null if it is that of the server or of the report. */
  policySet: { by: string; at: string } | null;
  /** Null until the first loop is reported. */
  state: GuardState | null;
  /** True after Temporal has cancelled the workflow. */
  cancelled: boolean;
  ignored: IgnoredSignal[];
}

type Changes = Partial<Pick<Guard, 'state' | 'policy' | 'policySet'>>;
type Applied<Answer> = { ok: true; changes: Changes; answer: Answer } | Refusal;
type ApplyMessage<Answer> = (body: unknown, extras: unknown) => Applied<Answer>;

/**
 * Registers each message as an update, which is refused with a reason before it is accepted, and as a signal, which
 * never fails the guard. Handlers are synchronous, so the trace has the loop before the sender gets the answer. A
 * handler checks again, because another message of the same workflow task may have changed the state since the
 * validator ran.
 */
export function acceptGuardMessages(guard: Guard, at: () => string): void {
  accept<LoopAnswer>(guard, at, GUARD_MESSAGE.loopComplete, (body, extras) => applyReport(guard, body, extras, at()));
  accept<FamilyPolicy>(guard, at, GUARD_MESSAGE.setPolicy, (body) => setPolicy(guard, body, at()));
  accept<OverrideAnswer>(guard, at, GUARD_MESSAGE.override, (body) => overrideLoop(guard, body, at()));
}

function accept<Answer>(guard: Guard, at: () => string, name: string, applyMessage: ApplyMessage<Answer>): void {
  const handle = (body: unknown, extras: unknown): Answer => {
    const applied = applyMessage(body, extras);
    if (!applied.ok) throw toFailure(applied);
    Object.assign(guard, applied.changes);
    return applied.answer;
  };
  const validate = (body: unknown, extras: unknown): void => {
    const applied = applyMessage(body, extras);
    if (!applied.ok) throw toFailure(applied);
  };
  handleUpdate<Answer>(name, { handle, validate });
  setHandler(defineSignal<[unknown, unknown]>(name), (body, extras) => {
    const applied = applyMessage(body, extras);
    if (applied.ok) Object.assign(guard, applied.changes);
    else ignore(guard, { name, reason: describeRefusal(applied).slice(0, CAP.messagePreviewChars), at: at() });
  });
}

function applyReport(guard: Guard, body: unknown, extras: unknown, at: string): Applied<LoopAnswer> {
  const errors = [...checkReport(body), ...checkExtras(extras)];
  if (errors.length > 0) return refuse('invalid_report', 'Correct the named fields and report again.', errors);
  const report = body as LoopReport;
  const { body_hash: bodyHash, bias_elsewhere: biasElsewhere } = (extras ?? {}) as ReportExtras;
  if (familyOf(report.loop_id) !== guard.family) {
    return refuse('other_family', `${report.loop_id} belongs to another family than ${guard.family}.`);
  }
  if (guard.cancelled && guard.state === null) return refuse('ended', `The family ${guard.family} was cancelled.`);
  const completed = completeLoop(guard.state, report, guard.policy, at, {
    ...defined({ bodyHash, biasElsewhere }),
  });
  if (!completed.ok) return completed;
  // The first report may bring the policy of its family.
  const policy = guard.state === null ? mergeGuardPolicy(guard.policy, report.policy) : guard.policy;
  return { ok: true, changes: { state: completed.state, policy }, answer: completed.answer };
}

/** Applies an override to the loop that the body names, or to the current loop if it names none. */
function overrideLoop(guard: Guard, body: unknown, at: string): Applied<OverrideAnswer> {
  const { loopId, override } = withoutLoopId(body);
  const parsed = parseMessage('override', override);
  if (!parsed.ok) {
    return refuse('invalid_override', 'Correct the named fields and override again.', parsed.problems);
  }
  if (guard.state === null) return refuse('unknown_loop', `No loop of the family ${guard.family} was reported yet.`);
  if (loopId !== undefined && typeof loopId !== 'string') return refuse('unknown_loop', 'loop_id has to be a string.');
  const overridden = applyOverride(guard.state, parsed.message, at, loopId);
  return overridden.ok ? { ok: true, changes: { state: overridden.state }, answer: overridden.answer } : overridden;
}

/** Sets the policy of a family whose first pass is not reported yet. The same policy again changes nothing. */
function setPolicy(guard: Guard, body: unknown, at: string): Applied<FamilyPolicy> {
  const errors = checkPolicyMessage(body);
  if (errors.length > 0) return refuse('invalid_policy', 'Correct the named fields and set it again.', errors);
  if (guard.cancelled) return refuse('ended', `The family ${guard.family} was cancelled.`);
  const { policy: patch, by } = body as PolicyMessage;
  const policy = mergeGuardPolicy(guard.policy, patch);
  const isSame = JSON.stringify(policy) === JSON.stringify(mergeGuardPolicy(guard.policy, {}));
  if (guard.state !== null && !isSame) {
    return refuse('policy_fixed', `The first report of ${guard.family} has fixed its policy.`);
  }
  const changes: Changes = guard.state === null ? { policy, policySet: { by, at } } : {};
  return { ok: true, changes, answer: describePolicy({ ...guard, ...changes }) };
}

export const describePolicy = ({ policy, policySet, state }: Guard): FamilyPolicy => ({
  policy,
  set_by: policySet?.by ?? null,
  set_at: policySet?.at ?? null,
  fixed: state !== null,
});

function withoutLoopId(body: unknown): { loopId?: unknown; override: unknown } {
  if (!isRecord(body)) return { override: body };
  const { loop_id: loopId, ...override } = body;
  return { loopId, override };
}

function checkExtras(extras: unknown): RequestProblem[] {
  if (extras === undefined || extras === null) return [];
  if (typeof extras !== 'object') return [{ path: '$extras', message: 'expected an object' }];
  const { body_hash: hash, bias_elsewhere: counts } = extras as Record<string, unknown>;
  const errors: RequestProblem[] = [];
  if (hash !== undefined && !(typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash))) {
    errors.push({ path: '$extras.body_hash', message: 'expected a sha256 in hex' });
  }
  if (counts !== undefined && !areCounts(counts)) {
    errors.push({ path: '$extras.bias_elsewhere', message: 'expected a whole number for each tag' });
  }
  return errors;
}

const areCounts = (counts: unknown): boolean =>
  typeof counts === 'object' &&
  counts !== null &&
  Object.values(counts).every((count) => Number.isInteger(count) && Number(count) >= 0);

const toFailure = (refusal: Refusal): ApplicationFailure =>
  ApplicationFailure.create({
    message: describeRefusal(refusal),
    type: refusal.problem,
    nonRetryable: true,
    details: [refusal],
  });

/** One text with all problems, because the command line shows no details. */
const describeRefusal = ({ detail, errors = [] }: Refusal): string =>
  [detail, ...errors.map((error) => `${error.path}: ${error.message}`)].join('; ');

/** Keeps the newest ignored signals; the history has all of them. */
function ignore(guard: Guard, signal: IgnoredSignal): void {
  guard.ignored = [...guard.ignored, signal].slice(-CAP.ignoredMessages);
}

export function answerGuardQueries(guard: Guard): void {
  answerQuery(QUERY.guardrails, (loopId: unknown): GuardrailsStatus | null => {
    if (guard.state === null) return null;
    return buildGuardrailsStatus(guard.state, typeof loopId === 'string' ? loopId : undefined);
  });
  answerQuery(GUARD_QUERY.policy, (): FamilyPolicy => describePolicy(guard));
  answerQuery(QUERY.trace, (): GuardTrace & { ignored: IgnoredSignal[] } => ({
    trace: guard.state === null ? [] : buildLoopTrace(guard.state),
    overrides: guard.state === null ? [] : listOverrides(guard.state),
    ignored: guard.ignored,
  }));
}
