import type { RunState } from '../core/run/state.ts';
import type { InheritedEffects } from '../protocol/effects.ts';
import type { PreparedRun, RunRequest } from '../protocol/run.ts';
import type { Grant, SubRunPlace } from '../protocol/sub-runs.ts';

/** Options of the workflow itself. Everything about the run is in the request. */
export interface AgentRunOptions {
  /**
   * False when our search attributes are not registered on the server, because setting them would then fail every
   * workflow task.
   */
  search_attributes?: boolean;
  /** Hands over after this many history events instead of when the server suggests it. */
  hand_over_after_events?: number;
  /** True when the run has borrowed budget from its parent, and returns the unused part at its end. */
  borrowed?: true;
  /** Set for a sub-run: the budget that it was granted, its place in the parent run, and what is known about effects. */
  sub_run?: { grant: Grant; place: SubRunPlace; effects?: InheritedEffects };
}

/**
 * The input of `agentRun`: a bare request from the `temporal` command line, a request that our client has prepared, or
 * the state of the previous execution.
 */
export type AgentRunInput = Partial<RunRequest> & {
  prepared?: PreparedRun;
  state?: RunState;
  options?: AgentRunOptions;
};
