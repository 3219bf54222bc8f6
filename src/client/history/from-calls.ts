import { ActivityFailure, DefaultFailureConverter, defaultPayloadConverter, RetryState } from '@temporalio/common';
import { PLANNER } from '../../core/run/planner.ts';
import type { Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { CallCancelled, CallFailed, GuidanceRow } from '../../protocol/tools.ts';
import { classifyFailure } from '../../workflows/outcomes.ts';
import { countOf, type Fields, fieldsOf, type HistoryFailure, listOf, textOf, textOrNull } from './history-event.ts';
import type { OpenCall, ProjectionState } from './projection-state.ts';
import type { AttemptPlace, Fact } from './run-event.ts';

export type CallUnderWay = Extract<OpenCall, { step_id: number }>;

/** A tool's activity is an attempt: what it was asked tells where it belongs and what guidance it saw. */
export function factsOfToolCall(state: ProjectionState, key: string, tool: string, request: Fields): Fact[] {
  const call = callOf(state, 'tool', request, tool);
  state.calls[key] = call;
  state.loop_id = call.loop_id;
  const { kind: _kind, started_at: _started, wait_ms, ...place } = call;
  const { attempt: _attempt, ...step } = place;
  return [
    ...(place.attempt === 1 ? [{ event: 'step_started' as const, ...step }] : []),
    { event: 'attempt_started', ...place, wait_ms },
    ...guidanceFacts(place, request),
  ];
}

/** A tool is asked what became of an attempt; it is the same attempt still. */
export function openReconcile(state: ProjectionState, key: string, request: Fields): void {
  state.calls[key] = callOf(state, 'reconcile', request, textOf(request['tool']));
}

/** A planner's turn is no step, but it too gets to see guidance. */
export function factsOfPlannerCall(state: ProjectionState, view: Fields): Fact[] {
  const loop_id = textOf(view['loop_id']) || state.loop_id;
  const place = { loop_id, step_id: null, attempt: countOf(view['attempt']), phase: 'plan', tool: PLANNER };
  return guidanceFacts(place, view);
}

export function factsOfSuccess(state: ProjectionState, call: CallUnderWay, result: Json | undefined): Fact[] {
  const answer = fieldsOf(result);
  if (call.kind === 'reconcile' && answer['verdict'] !== 'done') return [];
  const artifact_id = textOrNull(answer['artifact_id']);
  return [
    {
      ...endOf(state, call),
      outcome: 'ok',
      ...(artifact_id === null ? {} : { artifact_id }),
      ...(call.kind === 'reconcile' ? { reconciled: true } : {}),
    },
  ];
}

export function factsOfFailure(
  state: ProjectionState,
  call: CallUnderWay,
  failure: HistoryFailure | null | undefined,
): Fact[] {
  // A tool that could not say what became of an attempt leaves it as it was.
  if (call.kind === 'reconcile') return [];
  return factsOfOutcome(state, call, outcomeOf(failure));
}

/** An attempt that did not succeed, as the story reads it. */
export function factsOfOutcome(
  state: ProjectionState,
  call: CallUnderWay,
  outcome: CallFailed | CallCancelled,
): Fact[] {
  if (outcome.class === 'cancelled') return [{ ...endOf(state, call), outcome: 'cancelled' }];
  const { category, error_code, message_preview, certainty, origin } = outcome;
  if (category === 'pointer_unresolved')
    state.unresolved = [...state.unresolved, attemptKey(call)].slice(-CAP.outboxRecords);
  const told = { category, error_code: textOf(error_code), message_preview: textOf(message_preview) };
  return [{ ...endOf(state, call), outcome: 'failed', failure: { ...told, certainty, origin } }];
}

export const factsOfCancel = (state: ProjectionState, call: CallUnderWay): Fact[] =>
  call.kind === 'reconcile' ? [] : [{ ...endOf(state, call), outcome: 'cancelled' }];

export const attemptKey = ({ step_id, attempt }: { step_id: number; attempt: number }): string =>
  `${step_id}:${attempt}`;

function endOf(state: ProjectionState, { kind: _kind, ...call }: CallUnderWay) {
  return { event: 'attempt_ended' as const, ...call, ended_at: state.at };
}

/** The story's own reading of a failed activity, so that what is shown and what the run decided on never differ. */
function outcomeOf(failure: HistoryFailure | null | undefined): CallFailed | CallCancelled {
  try {
    const cause = new DefaultFailureConverter().failureToError(failure ?? {}, defaultPayloadConverter);
    return classifyFailure(new ActivityFailure('', '', '', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', cause), 0);
  } catch {
    return {
      class: 'failed',
      category: 'unknown_error',
      error_code: 'UNREADABLE',
      message_preview: textOf(failure?.message).slice(0, 300),
      certainty: 'unknown',
      origin: 'tool',
      duration_ms: 0,
    };
  }
}

function callOf(state: ProjectionState, kind: CallUnderWay['kind'], request: Fields, tool: string): CallUnderWay {
  return {
    kind,
    loop_id: textOf(request['loop_id']) || state.loop_id,
    step_id: countOf(request['step_id']),
    attempt: countOf(request['attempt']),
    phase: textOf(request['phase']),
    tool,
    wait_ms: countOf(request['waited_ms']),
    // Until history says when a worker took it: Temporal tells that only together with the end.
    started_at: state.at,
  };
}

function guidanceFacts(place: Omit<AttemptPlace, 'step_id'> & { step_id: number | null }, request: Fields): Fact[] {
  const guidance = fieldsOf(request['guidance']);
  const rows = listOf(guidance['rows']).map(rowOf);
  return rows.length === 0 ? [] : [{ event: 'guidance_shown', ...place, guidance: textOf(guidance['text']), rows }];
}

function rowOf(value: Json): GuidanceRow {
  const row = fieldsOf(value);
  return {
    fingerprint: textOf(row['fingerprint']),
    failure_id: textOf(row['failure_id']),
    relevance: typeof row['relevance'] === 'number' ? row['relevance'] : 0,
    why: textOf(row['why']),
    text: textOf(row['text']),
  };
}
