import type { HistoryEvent } from './history-event.ts';
import { isRunEvent, reduce, type StampedFact } from './project-event.ts';
import { openProjection } from './projection-state.ts';
import type { RunEvent } from './run-event.ts';
import { collectSteps, type RecordedStep } from './steps.ts';

interface ProjectedHistory {
  events: RunEvent[];
  steps: RecordedStep[];
}

/** Projects the whole history of a run, with all executions of its continue-as-new chain, oldest first. */
export function projectHistory(history: readonly HistoryEvent[], options: { runId?: string } = {}): ProjectedHistory {
  let state = openProjection(options.runId);
  const facts: StampedFact[] = [];
  for (const event of history) {
    const reduced = reduce(state, event);
    state = reduced.state;
    facts.push(...reduced.facts);
  }
  return { events: facts.filter(isRunEvent), steps: collectSteps(facts) };
}
