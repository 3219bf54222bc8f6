import { defineSignal, defineUpdate, getExternalWorkflowHandle, log, setHandler } from '@temporalio/workflow';
import type { RunState } from '../core/run/state.ts';
import { lend, takeBack } from '../core/run/sub-runs.ts';
import { isId, workflowIdOfRun } from '../protocol/ids.ts';
import type { EffectsReport } from '../protocol/effects.ts';
import { defined, isRecord } from '../protocol/json.ts';
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
    const { sub_run_id, used, questions, effects } = isRecord(body) ? body : {};
    if (typeof sub_run_id !== 'string') return;
    const report = isEffectsReport(effects) ? { effects } : {};
    const end = isUse(used) && typeof questions === 'number' ? { used, questions, ...report } : null;
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

const isCounts = (counts: unknown): boolean =>
  isRecord(counts) && Object.values(counts).every((count) => Number.isSafeInteger(count));

const isKept = (kept: unknown): boolean =>
  Array.isArray(kept) && kept.every((effect) => isRecord(effect) && typeof effect['call'] === 'string');

const isEffectsReport = (report: unknown): report is EffectsReport =>
  isRecord(report) &&
  isCounts(report['done']) &&
  Array.isArray(report['unknown']) &&
  report['unknown'].every(
    (effect) => isRecord(effect) && ['call', 'key', 'told', 'known'].every((name) => typeof effect[name] === 'string'),
  ) &&
  Array.isArray(report['settled']) &&
  isCounts(report['answered'] ?? {}) &&
  isKept(report['kept'] ?? []) &&
  typeof report['fence'] === 'number';

/** Returns unused budget to the parent run, and reports what became of effects. A parent that has already ended does not need it. */
export async function giveBack({ run }: RunState, { used, questions, effects }: RunResult): Promise<void> {
  if (run.parent_run_id === null) return;
  const parent = getExternalWorkflowHandle(workflowIdOfRun(run.parent_run_id));
  try {
    await parent.signal(BUDGET_MESSAGE.giveBack, {
      sub_run_id: run.run_id,
      used,
      questions,
      ...defined({ effects }),
    });
  } catch {
    log.info('parent_has_ended', { parent_run_id: run.parent_run_id });
  }
}
