import type { Json } from '../../protocol/json.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import { factsOfCancel } from './from-calls.ts';
import { factsOfLoop } from './from-decisions.ts';
import { factsOfQuestionEnd } from './from-people.ts';
import { type Fields, fieldsOf, firstOf, type HistoryEvent, listOf, textOf, textOrNull } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact, RunEnding } from './run-event.ts';

const OUTCOMES: readonly RunOutcome[] = ['completed', 'finalized', 'system_error', 'budget_exhausted', 'cancelled'];

/** The archive is written once, at the end, and holds what was thought of each loop and decided after it. */
export function factsOfArchive(state: ProjectionState, archive: Fields): Fact[] {
  state.ending = endingOf(archive['result']);
  const passes = listOf(archive['trace']).map(fieldsOf);
  return passes.filter((item) => !state.decided.includes(textOf(item['loop_id']))).flatMap(factsOfLoop);
}

/** Is this the end of the run? A continue-as-new is not: there the run goes on. */
export function factsOfClose(state: ProjectionState, event: HistoryEvent): Fact[] {
  const ending = endingOfClose(state, event);
  if (ending === null || state.ended) return [];
  state.ended = true;
  // Who closes a workflow from outside leaves its calls without an end; nobody waits for them any more.
  const left = Object.values(state.calls).flatMap((call) => (call.kind === 'record' ? [] : factsOfCancel(state, call)));
  state.calls = {};
  return [...left, ...factsOfQuestionEnd(state), { event: 'run_ended', ...ending }];
}

function endingOfClose(state: ProjectionState, event: HistoryEvent): RunEnding | null {
  const known = state.ending;
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) return endingOf(firstOf(completed.result)) ?? known ?? closedAs('completed', 'completed', '');
  if (event.workflowExecutionCanceledEventAttributes) {
    return known ?? closedAs('cancelled', 'cancelled', 'the run was cancelled before it could sum up');
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
  if (failed) return closedAs('system_error', 'workflow_failed', textOf(failed.failure?.message));
  if (event.workflowExecutionTimedOutEventAttributes) {
    return closedAs('system_error', 'workflow_timed_out', 'the workflow ran out of its time');
  }
  return null;
}

function endingOf(value: Json | undefined): RunEnding | null {
  const result = fieldsOf(value);
  const outcome = OUTCOMES.find((known) => known === result['outcome']);
  if (outcome === undefined) return null;
  return {
    outcome,
    reason: textOf(result['reason']),
    why: textOf(result['why']),
    loops: typeof result['loops'] === 'number' ? result['loops'] : null,
    questions: typeof result['questions'] === 'number' ? result['questions'] : null,
    used: result['used'] ?? null,
    failures: result['failures'] ?? null,
    artifact_id: textOrNull(fieldsOf(result['result'])['artifact_id']),
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
