import { isCancellation, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import { ActivityFailure } from '@temporalio/common';
import type { PublishedState, RunPorts } from '../core/run/ports.ts';
import type { RunLesson } from '../protocol/lessons.ts';
import type { SaveOutcome } from '../protocol/records.ts';
import * as activities from './activity-proxies.ts';
import { classifyFailure, HEARTBEAT_LOST } from './outcomes.ts';
import { runSubRun } from './run-sub-run.ts';
import { startSavingArchive } from './save-archive.ts';

export interface DurablePorts extends RunPorts {
  /** Cancels the calls under way. The run still waits until each has really stopped. */
  stopCalls(): void;
}

/**
 * The ports of the real world: every wait is a durable timer, every call an activity. `memoryTaskQueue` is where a run's
 * memory is written and asked; by default that is the workflow's own queue.
 */
export function durablePorts(
  now: () => number,
  publish: (shown: PublishedState) => void,
  handOverAfterEvents: number | undefined,
  memoryTaskQueue?: string,
): DurablePorts {
  const memory: activities.MemoryActivities =
    memoryTaskQueue === undefined ? activities : activities.memoryActivities(memoryTaskQueue);
  const underWay = new Set<CancellationScope>();
  const stops = new Set<() => void>();
  /** Runs an activity in a scope that `stopCalls` can cancel, and returns any failure as a value. */
  const runCancellable = async <T>(start: () => Promise<T>): Promise<T | ReturnType<typeof classifyFailure>> => {
    const startedAt = now();
    const scope = new CancellationScope({ cancellable: true });
    underWay.add(scope);
    try {
      return await scope.run(start);
    } catch (error) {
      return classifyFailure(error, now() - startedAt);
    } finally {
      underWay.delete(scope);
    }
  };

  return {
    now,
    publish,
    until: (holds, ms, why) => condition(holds, ms, { summary: why }),
    call: async (request) => {
      const outcome = await runCancellable(() => activities.callTool(request));
      const isLost = outcome.class === 'failed' && outcome.error_code === HEARTBEAT_LOST;
      return isLost ? { ...outcome, may_act_ms: activities.mayActMs(request) } : outcome;
    },
    subRun: (request) =>
      runSubRun(request, now, (stop) => {
        stops.add(stop);
        return () => stops.delete(stop);
      }),
    callModel: (view) => runCancellable(() => activities.callModel(view)),
    review: (view) => runCancellable(() => activities.review(view)),
    reconcile: async (request) => {
      const found = await runCancellable(() => activities.reconcile(request));
      return 'verdict' in found ? found : { verdict: 'unknown' };
    },
    checkOutput: async (request) => {
      const checked = await runCancellable(() => activities.checkOutput(request));
      if ('ok' in checked) return checked;
      const why = checked.class === 'failed' ? checked.message_preview : 'the run was cancelled';
      return { ok: false, problem: `it could not be checked: ${why}` };
    },
    recall: (query) => recallOrNone(memory.recall(query)),
    notify: (notice) => {
      memory.notify(notice).catch((error: unknown) => log.warn('notify_failed', { reason: reasonOf(error) }));
    },
    record: (batch) => reportSave(memory.record(batch)),
    archive: (archive) => reportSave(memory.archive(archive)),
    archiveLater: (archive) => startSavingArchive(archive, memoryTaskQueue),
    log: ({ event, ...fields }) => log.info(event, fields),
    shouldHandOver: () => {
      const { continueAsNewSuggested, historyLength } = workflowInfo();
      return handOverAfterEvents === undefined ? continueAsNewSuggested : historyLength >= handOverAfterEvents;
    },
    stopCalls: () => {
      for (const scope of underWay) scope.cancel();
      for (const stop of stops) stop();
    },
  };
}

/** Returns no lessons when the memory does not answer, so that the retry continues without them. */
export async function recallOrNone(asked: Promise<RunLesson[]>): Promise<RunLesson[]> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('recall_failed', { reason: reasonOf(error) });
    return [];
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof ActivityFailure ? (error.cause?.message ?? error.message) : String(error);

/** Returns a failed write as a value, because a run must not fail when its memory cannot be written. */
export async function reportSave(write: Promise<void>): Promise<SaveOutcome> {
  try {
    await write;
    return { saved: true };
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return { saved: false, reason: error.cause?.message ?? error.message };
  }
}
