import { runIdOfWorkflow } from '../../protocol/ids.ts';
import { type Attributes, asFields, decodeFirst, asText, textOrNull, asTexts } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** The first execution starts the run. A later one continues it, and its history event ids start at 1 again. */
export function projectStart(
  state: ProjectionState,
  started: Attributes<'workflowExecutionStartedEventAttributes'>,
): Fact[] {
  const isFirst = state.execution === 0;
  state.execution += 1;
  // A run continues as new only when nothing is in progress, so open calls of an earlier execution are over.
  state.calls = {};
  if (!isFirst) return [];
  const input = asFields(decodeFirst(started.input));
  // The input was prepared by our client, carried over from a deleted execution, or sent with the `temporal` command.
  const carried = asFields(asFields(input['state'])['run']);
  const prepared = Object.keys(carried).length > 0 ? carried : asFields(input['prepared'] ?? input);
  const fromWorkflow = runIdOfWorkflow(asText(started.workflowId));
  state.run_id = asText(prepared['run_id']) || state.run_id || (fromWorkflow ?? '');
  state.loop_id = asText(prepared['loop_id']);
  return [
    {
      event: 'run_started',
      run_id: state.run_id,
      agent: asText(prepared['agent']),
      goal: asText(prepared['goal']),
      loop_id: state.loop_id,
      labels: asTexts(prepared['labels']),
      parent_run_id: textOrNull(prepared['parent_run_id']),
    },
  ];
}
