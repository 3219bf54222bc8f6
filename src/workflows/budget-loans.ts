import { defineSignal, defineUpdate, getExternalWorkflowHandle, log, setHandler } from '@temporalio/workflow';
import type { RunState } from '../core/run/state.ts';
import { lend, takeBack } from '../core/run/sub-runs.ts';
import { isId, workflowIdOfRun } from '../protocol/ids.ts';
import { isRecord } from '../protocol/json.ts';
import { BUDGET_MESSAGE } from '../protocol/names.ts';
import type { RunResult } from '../protocol/run.ts';
import type { Loan, SubRunResult } from '../protocol/sub-runs.ts';
import { ready } from './messages.ts';

/**
 * Accepts budget requests of runs that were started elsewhere to work for this one, and takes back what they did not
 * use.
 */
export function lendBudget(state: RunState, now: () => number): void {
  setHandler(defineUpdate<Loan, [unknown]>(BUDGET_MESSAGE.lend), async (subRun) => {
    await ready(state);
    return isId(subRun) ? lend(state, subRun, now()) : { grant: null, is_new: false };
  });
  setHandler(defineSignal<[unknown]>(BUDGET_MESSAGE.giveBack), async (body) => {
    const { sub_run_id, used, questions } = isRecord(body) ? body : {};
    if (typeof sub_run_id !== 'string') return;
    const end = isUse(used) && typeof questions === 'number' ? { used, questions } : null;
    // A usage that cannot be read is not returned: the whole loan counts as used.
    if (used !== null && end === null) return;
    await ready(state);
    takeBack(state, sub_run_id, end);
  });
}

const isUse = (used: unknown): used is SubRunResult['used'] =>
  isRecord(used) &&
  ['steps', 'attempts', 'model_calls', 'tokens', 'cost_micro_usd'].every(
    (name) => Number.isSafeInteger(used[name]) && (used[name] as number) >= 0,
  );

/** Returns unused budget to the parent run. A parent that has already ended does not need it. */
export async function giveBack({ run }: RunState, { used, questions }: RunResult): Promise<void> {
  if (run.parent_run_id === null) return;
  const parent = getExternalWorkflowHandle(workflowIdOfRun(run.parent_run_id));
  try {
    await parent.signal(BUDGET_MESSAGE.giveBack, { sub_run_id: run.run_id, used, questions });
  } catch {
    log.info('parent_has_ended', { parent_run_id: run.parent_run_id });
  }
}
