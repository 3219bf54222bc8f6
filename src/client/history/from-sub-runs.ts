import { toStepOutcome } from '../../core/run/sub-runs.ts';
import type { SubRunOutcome, SubRunResult } from '../../protocol/sub-runs.ts';
import { type CallUnderWay, factsOfOutcome, factsOfSuccess, factsOfToolCall } from './from-calls.ts';
import { type Fields, fieldsOf, firstOf, type HistoryEvent, textOf } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** A run that does a step is an attempt of it, like a call of a tool; other children are none of ours. */
export function factsOfSubRun(state: ProjectionState, key: string, input: Fields): Fact[] {
  const place = fieldsOf(fieldsOf(fieldsOf(input['options'])['sub_run'])['place']);
  const tool = textOf(place['tool']);
  return tool === '' ? [] : factsOfToolCall(state, key, tool, place);
}

/** How a child came to its end, or null for any other event. */
export function endOfSubRun(event: HistoryEvent): { initiatedEventId: unknown; outcome: SubRunOutcome } | null {
  const {
    childWorkflowExecutionCompletedEventAttributes: completed,
    startChildWorkflowExecutionFailedEventAttributes: refused,
    childWorkflowExecutionFailedEventAttributes: failed,
    childWorkflowExecutionCanceledEventAttributes: cancelled,
    childWorkflowExecutionTimedOutEventAttributes: timedOut,
    childWorkflowExecutionTerminatedEventAttributes: terminated,
  } = event;
  if (completed) {
    const { initiatedEventId, result } = completed;
    return { initiatedEventId, outcome: outcomeOfResult(fieldsOf(firstOf(result))) };
  }
  const why = 'its run ended without a result';
  if (refused) {
    const outcome = { class: 'not_started', why: 'its run could not be started', duration_ms: 0 } as const;
    return { initiatedEventId: refused.initiatedEventId, outcome };
  }
  const lost = failed ?? cancelled ?? timedOut ?? terminated;
  return lost ? { initiatedEventId: lost.initiatedEventId, outcome: { class: 'lost', why, duration_ms: 0 } } : null;
}

/** Written by another of our workflows, and still only believed as far as it can be read. */
function outcomeOfResult(result: Fields): SubRunOutcome {
  if (textOf(result['outcome']) === '') return { class: 'lost', why: 'its result cannot be read', duration_ms: 0 };
  return { class: 'ended', result: result as unknown as SubRunResult, duration_ms: 0 };
}

/** The story's own reading of it, so that what is shown and what the run decided on never differ. */
export function factsOfSubRunEnd(state: ProjectionState, call: CallUnderWay, end: SubRunOutcome): Fact[] {
  const told = toStepOutcome(end, state.cancelled);
  return told.class === 'ok'
    ? factsOfSuccess(state, call, { artifact_id: told.artifact_id })
    : factsOfOutcome(state, call, told);
}
