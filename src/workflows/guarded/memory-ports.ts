import { ActivityFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { log, upsertMemo } from '@temporalio/workflow';
import type { RunPorts } from '../../core/run/ports.ts';
import { CAP } from '../../protocol/caps.ts';
import { MEMO } from '../../protocol/names.ts';
import type { RecordBatch } from '../../protocol/records.ts';
import { type MemoryActivities, memoryActivities } from '../activity-proxies.ts';
import { recallOrNone, reportSave } from '../durable-ports.ts';

/** How long a run waits for a worker to take its first call to the memory. */
const FIRST_CALL_MS = 1_000;
/**
 * How long the archive waits for a worker if no worker took an earlier call. Together with the first call a run without
 * a memory worker loses 1.5 s; the rest of 2 s is for Temporal's own work.
 */
const ARCHIVE_MS = 500;
/** A write whose only purpose is to be in the history. A worker that polls takes it anyway. */
const IN_HISTORY_MS = 50;

/**
 * The memory of a guarded run, on the task queue of a Secondwind worker. A user's own workflow may run where there is no
 * such worker. If no worker takes the first call in time, the run continues without lessons, and keeps its records until
 * it ends. Another workflow then writes the archive as soon as there is a worker.
 */
export function memoryPorts(taskQueue: string): Pick<RunPorts, 'recall' | 'record' | 'archive'> {
  let worker: 'unproven' | 'present' | 'absent' = 'unproven';
  const reason = `no worker took a call from the task queue ${taskQueue}`;
  const call = async <T>(waitMs: number, start: (memory: MemoryActivities) => Promise<T>): Promise<T> => {
    // A worker that has answered before may be restarting, so the run then waits for it as for its own worker.
    const wait = worker === 'present' ? undefined : waitMs;
    try {
      const answer = await start(memoryActivities(taskQueue, wait));
      becomes('present');
      return answer;
    } catch (error) {
      if (error instanceof ActivityFailure) becomes(wasTaken(error) ? 'present' : 'absent');
      throw error;
    }
  };
  const becomes = (next: 'present' | 'absent'): void => {
    if (worker === next) return;
    if (next === 'absent') log.warn('memory_not_available', { reason });
    if (next === 'absent') upsertMemo({ [MEMO.memory]: { available: false, reason } });
    else if (worker === 'absent') upsertMemo({ [MEMO.memory]: { available: true } });
    worker = next;
  };
  const explain = async <T extends { saved: boolean; reason?: string }>(saving: Promise<T>): Promise<T> => {
    const outcome = await saving;
    return outcome.saved || worker !== 'absent' ? outcome : { ...outcome, reason };
  };

  return {
    recall: async (query) =>
      worker === 'absent' ? [] : recallOrNone(call(FIRST_CALL_MS, (memory) => memory.recall(query))),
    record: async (batch) => {
      if (worker === 'absent' && !isLarge(batch)) return { saved: false, reason, kept: true };
      const waitMs = worker === 'absent' ? IN_HISTORY_MS : FIRST_CALL_MS;
      return explain(reportSave(call(waitMs, (memory) => memory.record(batch))));
    },
    archive: (archive) => {
      const waitMs = worker === 'absent' ? ARCHIVE_MS : FIRST_CALL_MS + ARCHIVE_MS;
      return explain(reportSave(call(waitMs, (memory) => memory.archive(archive))));
    },
  };
}

const wasTaken = ({ cause }: ActivityFailure): boolean =>
  !(cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START);

/** The outbox has caps, so a large batch goes into the history, from where the archive is completed later. */
const isLarge = ({ records, revisions, lessons, lesson_uses, evaluations, feedback }: RecordBatch): boolean =>
  [records, revisions, lessons, lesson_uses, evaluations, feedback].reduce((sum, { length }) => sum + length, 0) >=
  CAP.outboxRecords;
