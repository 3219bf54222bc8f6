import { EMPTY_START_MEMORY } from '../../protocol/lessons.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { PreparedRun, RequestProblem } from '../../protocol/run.ts';
import { computeBound } from '../bound/compute-bound.ts';
import { endWith } from './life.ts';
import { openRun, type RunState } from './state.ts';

/** The part of a run that is known before it is prepared. */
export interface UnpreparedRun {
  run_id: string;
  agent: string;
  goal: string;
}

/**
 * Opens a run that was started from the bare `temporal` command line. It answers queries and takes a cancel like any
 * other run; `beginRun` or `refuseRun` follows once a worker has looked at the request.
 */
export const openUnprepared = (given: UnpreparedRun, now: number): RunState => ({
  ...openRun(placeholder(given), now),
  life: { is: 'preparing' },
});

/** Starts the run with the prepared request, unless it was cancelled in the meantime. */
export function beginRun(state: RunState, prepared: PreparedRun): void {
  const { life, people } = state;
  Object.assign(state, openRun(prepared, state.started_at), { people });
  if (life.is !== 'preparing') state.life = life;
}

/** Ends a run whose request is invalid. The ending lists up to five problems with their paths. */
export function refuseRun(state: RunState, problems: RequestProblem[]): void {
  const listed = problems
    .slice(0, 5)
    .map((problem) => `${problem.path}: ${problem.message}`)
    .join('; ');
  endWith(state, { outcome: 'system_error', reason: 'bad_request', why: listed.slice(0, 1_000) });
}

const placeholder = (given: UnpreparedRun): PreparedRun => ({
  ...given,
  input: null,
  planner: 'given',
  plan: null,
  model: null,
  reviewer: 'rules',
  policy: DEFAULT_POLICY,
  manifest: {},
  bound: computeBound({ policy: DEFAULT_POLICY, planLength: 0 }),
  // Not derived from the run's id, which may be what is refused.
  loop_id: 'loop_refused',
  labels: [],
  parent_run_id: null,
  memory: EMPTY_START_MEMORY,
});
