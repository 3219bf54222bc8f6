import type { Client } from '@temporalio/client';

/** A worker polls at least once a minute; who has not for longer is gone. */
const STILL_THERE_MS = 70_000;

/** When a worker last asked for work on this queue, or null when none does. */
export async function lastPoll(client: Client, taskQueue: string): Promise<Date | null> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- TASK_QUEUE_TYPE_WORKFLOW; the SDK exports no enum
    taskQueueType: 1,
  });
  const times = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000);
  const latest = Math.max(0, ...times);
  return latest > Date.now() - STILL_THERE_MS ? new Date(latest) : null;
}
