import type { Json } from '../../protocol/json.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import { isAttempt, projectCancel } from './from-calls.ts';
import { projectLoop } from './from-decisions.ts';
import { projectQuestionEnd } from './from-people.ts';
import { type Fields, asFields, decodeFirst, type HistoryEvent, asList, asText, textOrNull } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact, RunEnding } from './run-event.ts';

const OUTCOMES: readonly RunOutcome[] = ['completed', 'finalized', 'system_error', 'budget_exhausted', 'cancelled'];

/** The archive is written once, at the end, and has the review and the decision of every pass. */
export function projectArchive(state: ProjectionState, archive: Fields): Fact[] {
  state.ending = readEnding(archive['result']);
  const passes = asList(archive['trace']).map(asFields);
  return passes.filter((item) => !state.decided.includes(asText(item['loop_id']))).flatMap(projectLoop);
}

/** The facts of a closed execution. A continue-as-new is not the end of the run. */
export function projectClose(state: ProjectionState, event: HistoryEvent): Fact[] {
  const ending = readCloseEnding(state, event);
  if (ending === null || state.ended) return [];
  state.ended = true;
  // A workflow that was closed from outside has open calls. They count as cancelled.
  const left = Object.values(state.calls).flatMap((call) => (isAttempt(call) ? projectCancel(state, call) : []));
  state.calls = {};
  return [...left, ...projectQuestionEnd(state), { event: 'run_ended', ...ending }];
}

function readCloseEnding(state: ProjectionState, event: HistoryEvent): RunEnding | null {
  const known = state.ending;
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) return readEnding(decodeFirst(completed.result)) ?? known ?? closedAs('completed', 'completed', '');
  if (event.workflowExecutionCanceledEventAttributes) {
    return known ?? closedAs('cancelled', 'cancelled', 'the run was cancelled before it could write a summary');
  }
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) {
    const { reason } = terminated;
    return closedAs(
      'cancelled',
      'terminated',
      `the workflow was terminated from outside${reason ? `: ${reason}` : ''}`,
    );
  }
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) return closedAs('system_error', 'workflow_failed', asText(failed.failure?.message));
  if (event.workflowExecutionTimedOutEventAttributes) {
    return closedAs('system_error', 'workflow_timed_out', 'the workflow timed out');
  }
  return null;
}

function readEnding(value: Json | undefined): RunEnding | null {
  const result = asFields(value);
  const outcome = OUTCOMES.find((known) => known === result['outcome']);
  if (outcome === undefined) return null;
  return {
    outcome,
    reason: asText(result['reason']),
    why: asText(result['why']),
    loops: typeof result['loops'] === 'number' ? result['loops'] : null,
    questions: typeof result['questions'] === 'number' ? result['questions'] : null,
    used: result['used'] ?? null,
    failures: result['failures'] ?? null,
    artifact_id: textOrNull(asFields(result['result'])['artifact_id']),
  };
}

const closedAs = (outcome: RunOutcome, reason: string, why: string): RunEnding => ({
  outcome,
  reason,
  why,
  loops: null,
  questions: null,
  used: null,
  failures: null,
  artifact_id: null,
});
