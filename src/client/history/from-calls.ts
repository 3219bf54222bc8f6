import { PLANNER } from '../../protocol/names.ts';
import { ActivityFailure, DefaultFailureConverter, defaultPayloadConverter, RetryState } from '@temporalio/common';
import { defined, type Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { CallCancelled, CallFailed, GuidanceRow } from '../../protocol/tools.ts';
import { classifyFailure } from '../../workflows/outcomes.ts';
import { asCount, type Fields, asFields, type HistoryFailure, asList, asText, textOrNull } from './history-event.ts';
import type { OpenCall, ProjectionState } from './projection-state.ts';
import type { AttemptPlace, Fact, RecordedOutput } from './run-event.ts';

export type CallInProgress = Extract<OpenCall, { step_id: number }>;

export const isAttempt = (call: OpenCall): call is CallInProgress => call.kind === 'tool' || call.kind === 'reconcile';

/** A tool's activity is one attempt. Its input says which step it belongs to and which guidance it was shown. */
export function projectToolCall(
  state: ProjectionState,
  key: string,
  tool: string,
  request: Fields,
  subRunId?: string,
): Fact[] {
  const call = { ...readCall(state, 'tool', request, tool), ...defined({ sub_run_id: subRunId }) };
  state.calls[key] = call;
  state.loop_id = call.loop_id;
  const { kind: _kind, started_at: _started, wait_ms, ...place } = call;
  const { attempt: _attempt, ...step } = place;
  return [
    ...(place.attempt === 1 ? [{ event: 'step_started' as const, ...step }] : []),
    { event: 'attempt_started', ...place, wait_ms, input: request['input'] ?? null },
    ...guidanceFacts(place, request),
  ];
}

/** A reconcile call belongs to the attempt that it is about, and is not a new one. */
export function openReconcile(state: ProjectionState, key: string, request: Fields): void {
  state.calls[key] = readCall(state, 'reconcile', request, asText(request['tool']));
}

/** A planner turn is not a step, but it is shown guidance too. */
export function projectPlannerCall(state: ProjectionState, view: Fields): Fact[] {
  const loop_id = asText(view['loop_id']) || state.loop_id;
  const place = { loop_id, step_id: null, attempt: asCount(view['attempt']), phase: 'plan', tool: PLANNER };
  return guidanceFacts(place, view);
}

export function projectSuccess(state: ProjectionState, call: CallInProgress, result: Json | undefined): Fact[] {
  const answer = asFields(result);
  if (call.kind === 'reconcile' && answer['verdict'] !== 'done') return [];
  const artifact_id = textOrNull(answer['artifact_id']);
  return [
    {
      ...attemptEnd(state, call),
      outcome: 'ok',
      ...defined({ artifact_id: artifact_id ?? undefined }),
      ...(call.kind === 'reconcile' ? { reconciled: true } : {}),
    },
    { event: 'attempt_output', step_id: call.step_id, attempt: call.attempt, output: readOutput(answer) },
  ];
}

const readOutput = (answer: Fields): RecordedOutput => ({
  value: answer['output'] ?? null,
  inline: answer['inline'] !== false,
  artifact_id: textOrNull(answer['artifact_id']) || null,
  bytes: asCount(answer['bytes']),
});

export function projectFailure(
  state: ProjectionState,
  call: CallInProgress,
  failure: HistoryFailure | null | undefined,
): Fact[] {
  // A reconcile call that failed leaves the attempt unchanged.
  if (call.kind === 'reconcile') return [];
  return projectOutcome(state, call, readOutcome(failure));
}

/** The facts of an attempt that failed or was cancelled. */
export function projectOutcome(
  state: ProjectionState,
  call: CallInProgress,
  outcome: CallFailed | CallCancelled,
): Fact[] {
  if (outcome.class === 'cancelled') return [{ ...attemptEnd(state, call), outcome: 'cancelled' }];
  const { category, error_code, message_preview, certainty, origin } = outcome;
  if (category === 'pointer_unresolved')
    state.unresolved = [...state.unresolved, attemptKey(call)].slice(-CAP.outboxRecords);
  const told = { category, error_code: asText(error_code), message_preview: asText(message_preview) };
  const ended = { ...attemptEnd(state, call), outcome: 'failed' as const, failure: { ...told, certainty, origin } };
  return [ended, ...printedFacts(call, asFields(outcome.output))];
}

/** What a failed call printed is shown as its output. */
function printedFacts({ step_id, attempt }: CallInProgress, { text, artifact_id, bytes }: Fields): Fact[] {
  if (typeof text !== 'string') return [];
  const output = { value: text, inline: true, artifact_id: textOrNull(artifact_id), bytes: asCount(bytes) };
  return [{ event: 'attempt_output', step_id, attempt, output }];
}

export const projectCancel = (state: ProjectionState, call: CallInProgress): Fact[] =>
  call.kind === 'reconcile' ? [] : [{ ...attemptEnd(state, call), outcome: 'cancelled' }];

export const attemptKey = ({ step_id, attempt }: { step_id: number; attempt: number }): string =>
  `${step_id}:${attempt}`;

function attemptEnd(state: ProjectionState, { kind: _kind, ...call }: CallInProgress) {
  return { event: 'attempt_ended' as const, ...call, ended_at: state.at };
}

/** Reads a failed activity with the function of core/run, so that the events show what the run decided on. */
function readOutcome(failure: HistoryFailure | null | undefined): CallFailed | CallCancelled {
  try {
    const cause = new DefaultFailureConverter().failureToError(failure ?? {}, defaultPayloadConverter);
    return classifyFailure(new ActivityFailure('', '', '', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', cause), 0);
  } catch {
    return {
      class: 'failed',
      category: 'unknown_error',
      error_code: 'UNREADABLE',
      message_preview: asText(failure?.message).slice(0, 300),
      certainty: 'unknown',
      origin: 'tool',
      duration_ms: 0,
    };
  }
}

function readCall(state: ProjectionState, kind: CallInProgress['kind'], request: Fields, tool: string): CallInProgress {
  return {
    kind,
    loop_id: asText(request['loop_id']) || state.loop_id,
    step_id: asCount(request['step_id']),
    attempt: asCount(request['attempt']),
    phase: asText(request['phase']),
    tool,
    wait_ms: asCount(request['waited_ms']),
    // Replaced by the real start later: Temporal writes it to history only together with the end.
    started_at: state.at,
  };
}

function guidanceFacts(place: Omit<AttemptPlace, 'step_id'> & { step_id: number | null }, request: Fields): Fact[] {
  const guidance = asFields(request['guidance']);
  const rows = asList(guidance['rows']).map(readRow);
  return rows.length === 0 ? [] : [{ event: 'guidance_shown', ...place, guidance: asText(guidance['text']), rows }];
}

function readRow(value: Json): GuidanceRow {
  const row = asFields(value);
  return {
    fingerprint: asText(row['fingerprint']),
    failure_id: asText(row['failure_id']),
    relevance: typeof row['relevance'] === 'number' ? row['relevance'] : 0,
    why: asText(row['why']),
    text: asText(row['text']),
  };
}
