import type { EditedInput } from '../../protocol/questions.ts';
import type { Fields } from './history-event.ts';
import type { RunEnding, AttemptPlace } from './run-event.ts';

/** An activity that is scheduled and not closed yet. */
export type OpenCall =
  | ({ kind: 'tool'; wait_ms: number; started_at: string } & AttemptPlace)
  | ({ kind: 'reconcile'; wait_ms: number; started_at: string } & AttemptPlace)
  | { kind: 'record'; failure_ids: string[] }
  /** A worker checks the input that a person gave. The answer counts once it fits. */
  | { kind: 'check'; answer: Fields };

/**
 * What the projection remembers between two history events: mostly what is in progress, so its size does not grow with the run.
 * Plain JSON, so that a stream can be continued later.
 */
export interface ProjectionState {
  version: 1;
  /** Which execution of the continue-as-new chain this is; 0 before the first. */
  execution: number;
  run_id: string;
  loop_id: string;
  /** The time of the latest history event. */
  at: string;
  /** Open calls, by the id of the event that scheduled them. */
  calls: Record<string, OpenCall>;
  /** Emitted failures whose write has not succeeded yet. The run will send them again. */
  unsaved: string[];
  /** Attempts that failed in an activity because of a pointer that cannot be resolved. Others fail before an activity starts. */
  unresolved: string[];
  question: OpenQuestion | null;
  /** Passes whose review and decision were emitted already. The archive has them once more. */
  decided: string[];
  cancelled: boolean;
  /** The ending from the archive's input, because a run that Temporal closes as cancelled has no result. */
  ending: RunEnding | null;
  ended: boolean;
}

interface OpenQuestion {
  question_id: string;
  options: string[];
  escalation: number;
  answer: GivenAnswer | null;
}

export interface GivenAnswer {
  decision: string;
  text: string | null;
  by: string;
  /** What the person changed in the input of the step. */
  edit?: { step_id: number; edited: EditedInput };
}

export const openProjection = (runId = ''): ProjectionState => ({
  version: 1,
  execution: 0,
  run_id: runId,
  loop_id: '',
  at: '1970-01-01T00:00:00.000Z',
  calls: {},
  unsaved: [],
  unresolved: [],
  question: null,
  decided: [],
  cancelled: false,
  ending: null,
  ended: false,
});
