import type { ListedRun } from '../../client/views.ts';
import type { StreamedEvent } from '../shell/follow-events.ts';

/** Applies an event to a listed run. Returns the same object if the list shows nothing of the event. */
export function withEvent(run: ListedRun, event: StreamedEvent): ListedRun {
  switch (event.event) {
    case 'step_started':
      return run.state === 'ended' ? run : { ...run, state: 'running' };
    case 'attempt_ended':
      return { ...run, state: run.state === 'ended' ? 'ended' : 'running', attempts: run.attempts + 1 };
    case 'waiting':
      return event.reason === 'back_off' ? { ...run, state: 'backing_off' } : run;
    case 'question_asked':
      return { ...run, state: 'waiting_for_human' };
    case 'answered': {
      const { pending_question: _closed, ...rest } = run;
      return { ...rest, state: 'running' };
    }
    case 'review':
      return event.source === 'run' ? { ...run, state: 'reviewing' } : run;
    case 'decision':
      return event.decision === 'cancel' ? { ...run, state: 'stopping' } : run;
    case 'run_ended':
      return { ...run, state: 'ended', outcome: event.outcome, ended_at: event.at };
    case 'run_started':
    case 'sub_run_joined':
    case 'failure_recorded':
    case 'guidance_shown':
      return run;
  }
}

/** The row of a run that has just started. */
export const startedRun = (event: Extract<StreamedEvent, { event: 'run_started' }>): ListedRun => ({
  run_id: event.run_id,
  agent: event.agent,
  goal: event.goal,
  state: 'running',
  labels: event.labels,
  attempts: 0,
  started_at: event.at,
  ended_at: null,
});
