import type { RequestProblem } from '../../protocol/run.ts';
import { endWith, type RunState } from './state.ts';

/** A run that was started past our doors with a request that cannot be run: it ends at once and says where and why. */
export function refuseRun(state: RunState, problems: RequestProblem[]): RunState {
  const told = problems
    .slice(0, 5)
    .map((problem) => `${problem.path}: ${problem.message}`)
    .join('; ');
  endWith(state, { outcome: 'system_error', reason: 'bad_request', why: told.slice(0, 1_000) });
  return state;
}
