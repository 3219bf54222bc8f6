export { compareEventIds } from './event-id.ts';
export type { HistoryEvent } from './history-event.ts';
export { projectEvent } from './project-event.ts';
export { projectHistory } from './project-history.ts';
export { openProjection, type ProjectionState } from './projection-state.ts';
export { fetchHistory } from './read-history.ts';
export type { RunEvent } from './run-event.ts';
export type { ProjectedStep } from './steps.ts';
export { watchRun, type WatchOptions } from './watch-run.ts';
