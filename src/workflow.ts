/** `secondwind/workflow`: guarded steps for your own Temporal workflows. Import it in workflow code. */
export {
  guardedRun,
  REFUSED,
  STOPPED,
  type Guarded,
  type GuardedOptions,
  type StepOptions,
} from './workflows/guarded/guarded-run.ts';
export { runStep, type RunStepOptions } from './workflows/guarded/run-step.ts';
export type { GuardedAttempt } from './core/run/guarded.ts';
