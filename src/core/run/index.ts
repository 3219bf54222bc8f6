export { runAgent } from './agent.ts';
export { openGuarded, type GuardedAttempt } from './guarded.ts';
export { failuresOf } from './memory.ts';
export { apply, check, ignore, type MessageAnswer } from './messages.ts';
export type * from './ports.ts';
export { refuseRun } from './refuse-run.ts';
export { openRun, type RunState } from './state.ts';
export { toldToParent } from './sub-runs.ts';
export { statusOf } from './status.ts';
