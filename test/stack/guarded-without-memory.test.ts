/**
 * A guarded workflow where no Secondwind worker polls the queue of its memory. Real Temporal, real Postgres. The time
 * that the run loses is read from the timeouts in its history, because a busy machine makes every run longer.
 */
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { BillingActivities } from '../../examples/guarded-workflow.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import type { RunResult } from '../../src/protocol/run.ts';
import { nativeConnection } from '../support/connections.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const mails = new Map<string, number>();
const activities: BillingActivities = {
  charge: async (order) => `receipt of ${order}`,
  mailReceipt: async (order) => {
    const tries = (mails.get(order) ?? 0) + 1;
    mails.set(order, tries);
    if (tries < 3) throw new Error('mail server is away');
  },
};

let world: RunWorld;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  world = await openRunWorld([defineAgent({ name: 'none', tools: [] })]);
  worker = await Worker.create({
    connection: await nativeConnection(),
    namespace: inject('namespace'),
    taskQueue: `${world.taskQueue}-own`,
    workflowsPath: fileURLToPath(new URL('../../examples/guarded-workflow.ts', import.meta.url)),
    bundlerOptions: exampleBundle,
    activities,
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker.shutdown();
  await running;
  await world.close();
});

const start = (order: string) =>
  world.client.workflow.start('bill', {
    workflowId: world.newRunId(order),
    taskQueue: `${world.taskQueue}-own`,
    args: [order, world.taskQueue],
  });

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;
const eventsOf = async (handle: WorkflowHandle): Promise<Events> => (await handle.fetchHistory()).events ?? [];
const millis = (time: { seconds?: unknown; nanos?: number | null } | null | undefined): number =>
  Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
const lengthMs = (events: Events): number => millis(events.at(-1)?.eventTime) - millis(events[0]?.eventTime);

/** Activities of the memory, by the workflow task that scheduled them: calls of one task wait at the same time. */
function memoryCalls(events: Events): { name: string; task: string; waitMs: number }[] {
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const name = scheduled?.activityType?.name ?? '';
    if (!['record', 'recall', 'archive'].includes(name)) return [];
    const task = String(scheduled?.workflowTaskCompletedEventId);
    return [{ name, task, waitMs: millis(scheduled?.scheduleToStartTimeout) }];
  });
}

it(
  'a guarded run without a memory worker loses at most 2 s, says so, and is archived as soon as there is a worker',
  { timeout: 180_000 },
  async () => {
    const without = await start('late-without');
    expect(await without.result()).toBe('receipt of late-without');
    const events = await eventsOf(without);

    const calls = memoryCalls(events);
    const waits = new Map<string, number>();
    for (const { task, waitMs } of calls) waits.set(task, Math.max(waitMs, waits.get(task) ?? 0));
    expect(calls.every(({ waitMs }) => waitMs > 0)).toBe(true);
    expect([...waits.values()].reduce((sum, waitMs) => sum + waitMs, 0)).toBeLessThanOrEqual(2_000);
    expect(calls.filter(({ name }) => name === 'recall')).toHaveLength(1);
    expect(calls.filter(({ name }) => name === 'archive')).toHaveLength(1);

    const why = `no worker took a call from the task queue ${world.taskQueue}`;
    const result = await without.query<RunResult>('result');
    expect(result.unsaved).toMatchObject({ records: 2, archive: true, why });
    expect((await without.describe()).memo?.['memory']).toEqual({ available: false, reason: why });

    await world.startWorker();
    const archived = () => world.store.archivedRuns.get(without.workflowId);
    await expect.poll(archived, { timeout: 60_000 }).toMatchObject({ agent: 'billing', outcome: 'completed' });
    expect(await world.store.records.forRun(without.workflowId)).toHaveLength(2);

    const withOne = await start('late-with');
    expect(await withOne.result()).toBe('receipt of late-with');
    expect((await withOne.describe()).memo?.['memory']).toBeUndefined();
    expect((await withOne.query<RunResult>('result')).unsaved).toEqual({ records: 0, outputs: 0, archive: false });
    // The margin is for a busy machine. A run that waits for the timeouts of its writes loses minutes.
    expect(lengthMs(events) - lengthMs(await eventsOf(withOne))).toBeLessThan(2_000 + 10_000);
  },
);
