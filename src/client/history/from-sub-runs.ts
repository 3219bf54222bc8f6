import { toStepOutcome } from '../../core/run/sub-runs.ts';
import { isId, runIdOfWorkflow } from '../../protocol/ids.ts';
import type { SubRunOutcome, SubRunResult } from '../../protocol/sub-runs.ts';
import { type CallInProgress, projectOutcome, projectSuccess, projectToolCall } from './from-calls.ts';
import { type Fields, asFields, decodeFirst, type HistoryEvent, asText } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** A sub-run is an attempt of its step, like a tool call. Other child workflows are ignored. */
export function projectSubRun(state: ProjectionState, key: string, workflowId: string, input: Fields): Fact[] {
  const place = asFields(asFields(asFields(input['options'])['sub_run'])['place']);
  const tool = asText(place['tool']);
  return tool === '' ? [] : projectToolCall(state, key, tool, place, runIdOfWorkflow(workflowId) ?? undefined);
}

/** A run that was started elsewhere asks for budget with its id. */
export const projectJoin = (subRunId: unknown): Fact[] =>
  isId(subRunId) ? [{ event: 'sub_run_joined', sub_run_id: subRunId }] : [];

/** Returns how a child workflow ended, or null for any other event. */
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
    return { initiatedEventId, outcome: readSubRunOutcome(asFields(decodeFirst(result))) };
  }
  const why = 'its run ended without a result';
  if (refused) {
    const outcome = { class: 'not_started', why: 'its run could not be started', duration_ms: 0 } as const;
    return { initiatedEventId: refused.initiatedEventId, outcome };
  }
  const lost = failed ?? cancelled ?? timedOut ?? terminated;
  return lost ? { initiatedEventId: lost.initiatedEventId, outcome: { class: 'lost', why, duration_ms: 0 } } : null;
}

/** Reads the result of a sub-run without trusting its format. */
function readSubRunOutcome(result: Fields): SubRunOutcome {
  if (asText(result['outcome']) === '') return { class: 'lost', why: 'its result cannot be read', duration_ms: 0 };
  return { class: 'ended', result: result as unknown as SubRunResult, duration_ms: 0 };
}

/** Reads the end of a sub-run with the function of core/run, so that the events show what the run decided on. */
export function projectSubRunEnd(state: ProjectionState, call: CallInProgress, end: SubRunOutcome): Fact[] {
  const told = toStepOutcome(end, state.cancelled);
  if (told.class !== 'ok') return projectOutcome(state, call, told);
  const { output, inline, artifact_id, bytes } = told;
  return projectSuccess(state, call, { output, inline, artifact_id, bytes });
}
