import { ACTIVITY, BUDGET_MESSAGE, toolOfActivity } from '../../protocol/names.ts';
import {
  isAttempt,
  projectCancel,
  projectFailure,
  projectPlannerCall,
  projectSuccess,
  projectToolCall,
  openReconcile,
} from './from-calls.ts';
import { eventId } from './event-id.ts';
import { projectArchive, projectClose } from './from-end.ts';
import { keepAnswer, projectCancelRequest, projectMemo, projectMessage } from './from-people.ts';
import { projectBatch, forgetSaved } from './from-records.ts';
import { projectStart } from './from-start.ts';
import { endOfSubRun, projectJoin, projectSubRun, projectSubRunEnd } from './from-sub-runs.ts';
import { projectTimer } from './from-waits.ts';
import {
  type Attributes,
  asFields,
  decodeFirst,
  type HistoryEvent,
  numberText,
  asText,
  toTime,
} from './history-event.ts';
import type { OpenCall, ProjectionState } from './projection-state.ts';
import type { AttemptStarted, Fact, RunEvent } from './run-event.ts';

export type StampedFact = { id: string; at: string } & Fact;

/** Projects one history event: returns the next state and the run events. Pure: the given state is not changed. */
export function projectEvent(
  state: ProjectionState,
  event: HistoryEvent,
): { state: ProjectionState; events: RunEvent[] } {
  const { state: next, facts } = reduce(state, event);
  return { state: next, events: facts.filter(isRunEvent) };
}

export const isRunEvent = (fact: StampedFact): fact is RunEvent =>
  fact.event !== 'attempt_started' && fact.event !== 'attempt_output' && fact.event !== 'input_edited';

/** Like `projectEvent`, but also returns the facts that only the list of steps needs. */
export function reduce(state: ProjectionState, event: HistoryEvent): { state: ProjectionState; facts: StampedFact[] } {
  // The state is copied once here, so that the functions below may change the copy.
  const next: ProjectionState = { ...state, calls: { ...state.calls }, at: toTime(event.eventTime) ?? state.at };
  const key = numberText(event.eventId);
  const facts = projectAttributes(next, key, event);
  return {
    state: next,
    facts: facts.map((fact, n) => ({ id: eventId(next.execution, key, n), at: next.at, ...fact })),
  };
}

/** The kind of a history event is known by its attributes, of which one is set. */
function projectAttributes(state: ProjectionState, key: string, event: HistoryEvent): Fact[] {
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
  if (started) return projectStart(state, started);
  if (scheduled) return projectScheduled(state, key, scheduled);
  if (taken) return recordStart(state, numberText(taken.scheduledEventId));
  if (done) {
    return closing(state, done, (call) => {
      const result = decodeFirst(done.result);
      switch (call.kind) {
        case 'record':
          forgetSaved(state, call.failure_ids);
          return [];
        case 'check':
          if (asFields(result)['ok'] === true) keepAnswer(state, call.answer);
          return [];
        default:
          return projectSuccess(state, call, result);
      }
    });
  }
  const lost = failed ?? timedOut;
  if (lost) {
    return closing(state, lost, (call) => (isAttempt(call) ? projectFailure(state, call, lost.failure) : []));
  }
  if (cancelled) {
    return closing(state, cancelled, (call) => (isAttempt(call) ? projectCancel(state, call) : []));
  }
  if (initiated) return projectSubRun(state, key, asText(initiated.workflowId), asFields(decodeFirst(initiated.input)));
  const child = endOfSubRun(event);
  if (child !== null) {
    return closing(state, { scheduledEventId: child.initiatedEventId }, (call) =>
      call.kind === 'tool' ? projectSubRunEnd(state, call, child.outcome) : [],
    );
  }
  if (event.timerStartedEventAttributes) return projectTimer(state, event);
  if (memo) return projectMemo(state, memo);
  if (signal) return projectMessage(state, asText(signal.signalName), decodeFirst(signal.input));
  if (update) {
    const input = update.acceptedRequest?.input;
    if (input?.name === BUDGET_MESSAGE.lend) return projectJoin(decodeFirst(input.args));
    return projectMessage(state, asText(input?.name), decodeFirst(input?.args));
  }
  if (event.workflowExecutionCancelRequestedEventAttributes) return projectCancelRequest(state, 'temporal', null);
  return projectClose(state, event);
}

function projectScheduled(
  state: ProjectionState,
  key: string,
  scheduled: Attributes<'activityTaskScheduledEventAttributes'>,
): Fact[] {
  const type = asText(scheduled.activityType?.name);
  const input = asFields(decodeFirst(scheduled.input));
  const tool = toolOfActivity(type);
  if (tool !== null) return projectToolCall(state, key, tool, input);
  switch (type) {
    case ACTIVITY.callModel:
      return projectPlannerCall(state, input);
    case ACTIVITY.reconcile:
      openReconcile(state, key, input);
      return [];
    case ACTIVITY.checkInput:
      state.calls[key] = { kind: 'check', answer: input };
      return [];
    case ACTIVITY.record: {
      const { facts, failureIds } = projectBatch(state, input);
      state.calls[key] = { kind: 'record', failure_ids: failureIds };
      return facts;
    }
    case ACTIVITY.archive: {
      const last = projectBatch(state, asFields(input['pending']));
      return [...last.facts, ...projectArchive(state, input)];
    }
    default:
      return [];
  }
}

/** Temporal writes the start of a call to history together with its end, but with the time of the start. */
function recordStart(state: ProjectionState, key: string): AttemptStarted[] {
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
