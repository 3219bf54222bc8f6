/** What the code of a guarded workflow may do: have bugs, options that cannot be meant. Real Temporal, real Postgres. */
import { fileURLToPath } from 'node:url';
import { type WorkflowHandle, WorkflowFailedError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { defineAgent } from '../../src/define/define-agent.ts';
import type { LookActivities } from '../support/guarded/activities.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

/** How often each way to look was really tried. */
let looks: Record<string, number> = {};
const activities: LookActivities = {
  look: async (how) => {
    looks[how] = (looks[how] ?? 0) + 1;
    if (how === 'hangs up' || (how === 'flaky' && looks[how] < 2)) throw new Error('socket hang up');
    return how;
  },
};

let world: RunWorld;
let connection: NativeConnection;
beforeAll(async () => {
  world = await openRunWorld([defineAgent({ name: 'none', tools: [] })]);
  await world.startWorker();
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
}, 120_000);
afterAll(async () => {
  await connection.close();
  await world.close();
});

/** A worker with the workflows of one file, until the test ends or it is stopped. */
async function workerWith(file: string, taskQueue: string): Promise<() => Promise<void>> {
  const worker = await Worker.create({
    connection,
    namespace: inject('namespace'),
    taskQueue,
    workflowsPath: fileURLToPath(new URL(`../support/guarded/${file}`, import.meta.url)),
    activities,
  });
  const running = worker.run();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      worker.shutdown();
      await running;
    })();
    return stopped;
  };
  onTestFinished(() => stop());
  return stop;
}

async function start(type: string, taskQueue: string, ...args: unknown[]): Promise<WorkflowHandle> {
  looks = {};
  const workflowId = world.newRunId(type);
  return world.client.workflow.start(type, { workflowId, taskQueue, args: [world.taskQueue, ...args] });
}

const taskFailures = async (handle: WorkflowHandle): Promise<number> =>
  ((await handle.fetchHistory()).events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;

describe('a bug in a guarded workflow', () => {
  it('waits for mended code, which goes on where the bug was', { timeout: 90_000 }, async () => {
    const queue = `${world.taskQueue}-bug`;
    const stopBroken = await workerWith('broken.ts', queue);
    const handle = await start('report', queue);
    await expect.poll(() => taskFailures(handle), { timeout: 30_000 }).toBeGreaterThan(0);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(await world.store.archivedRuns.get(handle.workflowId)).toBeNull();
    await stopBroken();

    await workerWith('mended.ts', queue);
    expect(await handle.result()).toBe('a page about flaky');
    expect(looks['flaky']).toBe(2);
    expect(await world.store.archivedRuns.get(handle.workflowId)).toMatchObject({ outcome: 'completed' });
  });
});
