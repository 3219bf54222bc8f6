import type { RunState } from '../core/run/state.ts';
import type { PreparedRun, RunRequest } from '../protocol/run.ts';
import type { Grant, SubRunPlace } from '../protocol/sub-runs.ts';

/** How the workflow itself behaves; everything about the run is in the request. */
export interface AgentRunOptions {
  /** False where the server did not let us register search attributes: upserting them would fail every task. */
  search_attributes?: boolean;
  /** Hand over after this many history events instead of when the server suggests it. */
  hand_over_after_events?: number;
  /** Of a run that works for another: what it may draw on, and where it stands in that one. */
  /** It has drawn on the budget of its parent, and gives back what it leaves. */
  borrowed?: true;
  sub_run?: { grant: Grant; place: SubRunPlace };
}

/**
 * What `agentRun` is started with: a bare request (from the `temporal` command line), a request that our client has
 * prepared, or the state of the execution before.
 */
export type AgentRunInput = Partial<RunRequest> & {
  prepared?: PreparedRun;
  state?: RunState;
  options?: AgentRunOptions;
};
