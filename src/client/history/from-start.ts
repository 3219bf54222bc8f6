import { runIdOfWorkflow } from '../../protocol/ids.ts';
import { type Attributes, fieldsOf, firstOf, textOf, textOrNull, textsOf } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** The first execution starts the run; a later one only goes on, and its event ids begin anew. */
export function factsOfStart(
  state: ProjectionState,
  started: Attributes<'workflowExecutionStartedEventAttributes'>,
): Fact[] {
  const isFirst = state.execution === 0;
  state.execution += 1;
  // A hand-over waits for everything under way, so whatever an execution left open belongs to it alone.
  state.calls = {};
  if (!isFirst) return [];
  const input = fieldsOf(firstOf(started.input));
  // Prepared by our client; handed over, when older executions are gone already; or bare, from the command line.
  const carried = fieldsOf(fieldsOf(input['state'])['run']);
  const prepared = Object.keys(carried).length > 0 ? carried : fieldsOf(input['prepared'] ?? input);
  const fromWorkflow = runIdOfWorkflow(textOf(started.workflowId));
  state.run_id = textOf(prepared['run_id']) || state.run_id || (fromWorkflow ?? '');
  state.loop_id = textOf(prepared['loop_id']);
  return [
    {
      event: 'run_started',
      run_id: state.run_id,
      agent: textOf(prepared['agent']),
      goal: textOf(prepared['goal']),
      loop_id: state.loop_id,
      labels: textsOf(prepared['labels']),
      parent_run_id: textOrNull(prepared['parent_run_id']),
    },
  ];
}
