import { isRecord } from '../../protocol/json.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';
import { liftStalls } from '../failures/loop-watch.ts';
import type { InspectedFailure } from '../inspect/inspected-failure.ts';
import type { InspectedLoop } from '../inspect/inspected-loop.ts';
import { createStuckState, type StuckState } from '../stuck/observe.ts';

/**
 * What a guard knows about one conversation of an agent: plain JSON of bounded size, so that another process can
 * continue it. It contains hashes and codes of words; the only text in it are examples of failures.
 */
export interface GuardState {
  version: 1;
  watch: StuckState;
  /** The latest stretches in which the agent was suspected or stuck. */
  loops: InspectedLoop[];
  failures: InspectedFailure[];
  /** The stretch that made the guard tell the agent to stop. A message of a person clears it. */
  stopped: InspectedLoop | null;
}

export interface GuardSettings {
  mode: Policy['mode'];
  loops: Policy['loops'];
  /** With `ask_human` a stuck agent has to ask a person, with `finalize` it has to stop. */
  on_guard: Policy['reruns']['on_guard'];
}

/** What a guard has seen, in the shape in which `inspect` reports a file. */
export interface GuardReport {
  calls: number;
  loops: InspectedLoop[];
  failures: InspectedFailure[];
}

export const createGuardState = (): GuardState => ({
  version: 1,
  watch: createStuckState(),
  loops: [],
  failures: [],
  stopped: null,
});

const LISTS = ['seen_calls', 'seen_results', 'recent', 'equal_run', 'stalls'] as const;

/** Returns a state that another process has written, or null if it is not one of this version. */
export const readGuardState = (value: unknown): GuardState | null => {
  if (!isRecord(value) || value['version'] !== 1) return null;
  const { watch, loops, failures } = value;
  if (!isRecord(watch) || typeof watch['calls'] !== 'number' || !LISTS.every((name) => Array.isArray(watch[name]))) {
    return null;
  }
  return Array.isArray(loops) && Array.isArray(failures) ? (value as unknown as GuardState) : null;
};

/** Every count starts again, because a person has told the agent what to do. The report keeps what was found. */
export const noteUserMessage = (state: GuardState): GuardState => ({
  ...state,
  watch: liftStalls(state.watch),
  stopped: null,
});

export const reportGuard = ({ watch, loops, failures }: GuardState): GuardReport => ({
  calls: watch.calls,
  loops,
  failures: failures.toSorted((one, other) => other.count - one.count),
});

export const settingsOf = ({ mode, loops, reruns }: Policy): GuardSettings => ({
  mode,
  loops,
  on_guard: reruns.on_guard,
});
