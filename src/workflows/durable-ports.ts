import { isCancellation, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import { ActivityFailure } from '@temporalio/common';
import type { PublishedState, RunPorts } from '../core/run/ports.ts';
import type { RunLesson } from '../protocol/lessons.ts';
import type { SaveOutcome } from '../protocol/records.ts';
import * as activities from './activity-proxies.ts';
import { outcomeOfFailure } from './outcomes.ts';
import { runSubRun } from './run-sub-run.ts';

export interface DurablePorts extends RunPorts {
  /** Stops the calls under way; each is waited for until its work has really stopped. */
  stopCalls(): void;
}

/** Where a run's memory is written and asked; by default on the workflow's own queue. */
type MemoryActivities = Pick<activities.RuntimeActivities, 'record' | 'archive' | 'recall' | 'notify'>;

/** The ports of the real world: every wait is a durable timer, every call an activity. */
export function durablePorts(
  now: () => number,
  publish: (shown: PublishedState) => void,
  handOverAfterEvents: number | undefined,
  memory: MemoryActivities = activities,
): DurablePorts {
  const underWay = new Set<CancellationScope>();
  const stops = new Set<() => void>();
  /** Runs an activity so that a cancel can reach it, and tells any failure as a value. */
  const guarded = async <T>(start: () => Promise<T>): Promise<T | ReturnType<typeof outcomeOfFailure>> => {
    const startedAt = now();
    const scope = new CancellationScope({ cancellable: true });
    underWay.add(scope);
    try {
      return await scope.run(start);
    } catch (error) {
      return outcomeOfFailure(error, now() - startedAt);
    } finally {
      underWay.delete(scope);
    }
  };

  return {
    now,
    publish,
    until: (holds, ms, why) => condition(holds, ms, { summary: why }),
    call: (request) => guarded(() => activities.callTool(request)),
    subRun: (request) =>
      runSubRun(request, now, (stop) => {
        stops.add(stop);
        return () => stops.delete(stop);
      }),
    callModel: (view) => guarded(() => activities.callModel(view)),
    review: (view) => guarded(() => activities.review(view)),
    reconcile: async (request) => {
      const found = await guarded(() => activities.reconcile(request));
      return 'verdict' in found ? found : { verdict: 'unknown' };
    },
    recall: (query) => recalled(memory.recall(query)),
    notify: (notice) => {
      memory.notify(notice).catch((error: unknown) => log.warn('notify_failed', { reason: reasonOf(error) }));
    },
    record: (batch) => saved(memory.record(batch)),
    archive: (archive) => saved(memory.archive(archive)),
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

/** A memory that does not answer has not seen the failure: the retry goes on without it. */
async function recalled(asked: Promise<RunLesson[]>): Promise<RunLesson[]> {
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

/** A store that stays away is told, never thrown: a run must not die because its memory could not be written. */
async function saved(write: Promise<void>): Promise<SaveOutcome> {
  try {
    await write;
    return { saved: true };
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return { saved: false, reason: error.cause?.message ?? error.message };
  }
}
