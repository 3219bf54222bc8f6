import { defined } from '../../protocol/json.ts';
import { workflowInfo } from '@temporalio/workflow';
import type { GuardedAttempt } from '../../core/run/guarded.ts';
import { isId, sha256Hex } from '../../protocol/ids.ts';
import { guardedRun, type GuardedOptions, type StepOptions } from './guarded-run.ts';

export interface RunStepOptions extends Omit<GuardedOptions, 'goal'>, StepOptions {
  /** The goal of the run; by default the step's name. */
  goal?: string;
}

/** How often each name was used. Each workflow has its own copy of this module, so this is part of its state. */
const uses = new Map<string, number>();

/**
 * Runs one guarded step as a run of its own, with its own budget, questions and archive. The run is named after the
 * workflow and the step. Call it for one step at a time; steps that belong together share a `guardedRun`.
 */
export function runStep<T>(
  name: string,
  run: (attempt: GuardedAttempt) => Promise<T>,
  { effect, phase, input, goal = name, runId = ownRunId(name), ...options }: RunStepOptions,
): Promise<T | undefined> {
  const step: StepOptions = {
    ...defined({ effect, phase, input }),
  };
  return guardedRun({ ...options, goal, runId }, (guarded) => guarded.step(name, run, step));
}

function ownRunId(name: string): string {
  const use = (uses.get(name) ?? 0) + 1;
  uses.set(name, use);
  const wanted = [workflowInfo().workflowId, name, ...(use === 1 ? [] : [use])].join(':');
  return isId(wanted) ? wanted : `wf-${sha256Hex(wanted).slice(0, 32)}`;
}
