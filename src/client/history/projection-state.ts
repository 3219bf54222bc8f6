import type { RunEnding, AttemptPlace } from './run-event.ts';

/** An activity that history has scheduled and not closed yet. */
export type OpenCall =
  | ({ kind: 'tool'; wait_ms: number; started_at: string } & AttemptPlace)
  | ({ kind: 'reconcile'; wait_ms: number; started_at: string } & AttemptPlace)
  | { kind: 'record'; failure_ids: string[] };

/**
 * What the projection has to remember between two history events: what is under way, and little more, however long
 * the run is. Plain JSON, so that a stream can be left and taken up again.
 */
export interface ProjectionState {
  version: 1;
  /** Which execution of the continue-as-new chain this is; 0 before the first. */
  execution: number;
  run_id: string;
  loop_id: string;
  /** The latest time that history told. */
  at: string;
  /** By the id of the event that scheduled it. */
  calls: Record<string, OpenCall>;
  /** Told failures whose write has not succeeded yet: the run will send them again. */
  unsaved: string[];
  /** Attempts that an activity ended with an unresolvable pointer; others like it never reached one. */
  unresolved: string[];
  question: OpenQuestion | null;
  /** Passes whose review and decision were told when they were made; the archive lists them once more. */
  decided: string[];
  cancelled: boolean;
  /** Known from the archive's input: a run that Temporal closes as cancelled has no result of its own. */
  ending: RunEnding | null;
  ended: boolean;
}

interface OpenQuestion {
  question_id: string;
  options: string[];
  escalation: number;
  answer: { decision: string; text: string | null; by: string } | null;
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
