import { ACTIVITY, toolOfActivity } from '../../protocol/names.ts';
import {
  factsOfCancel,
  factsOfFailure,
  factsOfPlannerCall,
  factsOfSuccess,
  factsOfToolCall,
  openReconcile,
} from './from-calls.ts';
import { eventId } from './event-id.ts';
import { factsOfArchive, factsOfClose } from './from-end.ts';
import { factsOfCancelRequest, factsOfMemo, factsOfMessage } from './from-people.ts';
import { factsOfBatch, forgetSaved } from './from-records.ts';
import { factsOfStart } from './from-start.ts';
import { endOfSubRun, factsOfSubRun, factsOfSubRunEnd } from './from-sub-runs.ts';
import { factsOfTimer } from './from-waits.ts';
import { type Attributes, fieldsOf, firstOf, type HistoryEvent, numberText, textOf, timeOf } from './history-event.ts';
import type { OpenCall, ProjectionState } from './projection-state.ts';
import type { AttemptStarted, Fact, RunEvent } from './run-event.ts';

export type StampedFact = { id: string; at: string } & Fact;

/** One history event further: the state after it, and what there is to tell. Pure; the state given stays as it was. */
export function projectEvent(
  state: ProjectionState,
  event: HistoryEvent,
): { state: ProjectionState; events: RunEvent[] } {
  const { state: next, facts } = reduce(state, event);
  return { state: next, events: facts.filter(isRunEvent) };
}

export const isRunEvent = (fact: StampedFact): fact is RunEvent => fact.event !== 'attempt_started';

/** As `projectEvent`, with the starts of attempts, which only the list of steps needs. */
export function reduce(state: ProjectionState, event: HistoryEvent): { state: ProjectionState; facts: StampedFact[] } {
  // Copied once here, so that the parts can write down what they learn without anybody else seeing it.
  const next: ProjectionState = { ...state, calls: { ...state.calls }, at: timeOf(event.eventTime) ?? state.at };
  const key = numberText(event.eventId);
  const facts = factsOf(next, key, event);
  return {
    state: next,
    facts: facts.map((fact, n) => ({ id: eventId(next.execution, key, n), at: next.at, ...fact })),
  };
}

/** An event is what its attributes are; there is always one kind of them. */
function factsOf(state: ProjectionState, key: string, event: HistoryEvent): Fact[] {
  const {
    workflowExecutionStartedEventAttributes: started,
    activityTaskScheduledEventAttributes: scheduled,
    activityTaskStartedEventAttributes: taken,
    activityTaskCompletedEventAttributes: done,
    activityTaskFailedEventAttributes: failed,
    activityTaskTimedOutEventAttributes: timedOut,
    activityTaskCanceledEventAttributes: cancelled,
    workflowPropertiesModifiedEventAttributes: memo,
    startChildWorkflowExecutionInitiatedEventAttributes: initiated,
    workflowExecutionSignaledEventAttributes: signal,
    workflowExecutionUpdateAcceptedEventAttributes: update,
  } = event;
  if (started) return factsOfStart(state, started);
  if (scheduled) return factsOfScheduled(state, key, scheduled);
  if (taken) return noteStart(state, numberText(taken.scheduledEventId));
  if (done) {
    return closing(state, done, (call) => {
      if (call.kind !== 'record') return factsOfSuccess(state, call, firstOf(done.result));
      forgetSaved(state, call.failure_ids);
      return [];
    });
  }
  const lost = failed ?? timedOut;
  if (lost) {
    return closing(state, lost, (call) => (call.kind === 'record' ? [] : factsOfFailure(state, call, lost.failure)));
  }
  if (cancelled) {
    return closing(state, cancelled, (call) => (call.kind === 'record' ? [] : factsOfCancel(state, call)));
  }
  if (initiated) return factsOfSubRun(state, key, fieldsOf(firstOf(initiated.input)));
  const child = endOfSubRun(event);
  if (child !== null) {
    return closing(state, { scheduledEventId: child.initiatedEventId }, (call) =>
      call.kind === 'tool' ? factsOfSubRunEnd(state, call, child.outcome) : [],
    );
  }
  if (event.timerStartedEventAttributes) return factsOfTimer(state, event);
  if (memo) return factsOfMemo(state, memo);
  if (signal) return factsOfMessage(state, textOf(signal.signalName), firstOf(signal.input));
  if (update) {
    const input = update.acceptedRequest?.input;
    return factsOfMessage(state, textOf(input?.name), firstOf(input?.args));
  }
  if (event.workflowExecutionCancelRequestedEventAttributes) return factsOfCancelRequest(state, 'temporal', null);
  return factsOfClose(state, event);
}

function factsOfScheduled(
  state: ProjectionState,
  key: string,
  scheduled: Attributes<'activityTaskScheduledEventAttributes'>,
): Fact[] {
  const type = textOf(scheduled.activityType?.name);
  const input = fieldsOf(firstOf(scheduled.input));
  const tool = toolOfActivity(type);
  if (tool !== null) return factsOfToolCall(state, key, tool, input);
  switch (type) {
    case ACTIVITY.callModel:
      return factsOfPlannerCall(state, input);
    case ACTIVITY.reconcile:
      openReconcile(state, key, input);
      return [];
    case ACTIVITY.record: {
      const { facts, failureIds } = factsOfBatch(state, input);
      state.calls[key] = { kind: 'record', failure_ids: failureIds };
      return facts;
    }
    case ACTIVITY.archive: {
      const last = factsOfBatch(state, fieldsOf(input['pending']));
      return [...last.facts, ...factsOfArchive(state, input)];
    }
    default:
      return [];
  }
}

/** Temporal writes the start of a call into history together with its end, but with its own time. */
function noteStart(state: ProjectionState, key: string): AttemptStarted[] {
  const call = state.calls[key];
  if (call?.kind === 'tool') state.calls[key] = { ...call, started_at: state.at };
  return [];
}

function closing(
  state: ProjectionState,
  { scheduledEventId }: { scheduledEventId?: unknown },
  tell: (call: OpenCall) => Fact[],
): Fact[] {
  const key = numberText(scheduledEventId);
  const call = state.calls[key];
  if (call === undefined) return [];
  delete state.calls[key];
  return tell(call);
}
