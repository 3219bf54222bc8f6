/** What the code of a guarded workflow may do: have bugs, options that cannot be meant, children, steps alone. Real Temporal, real Postgres. */
import { fileURLToPath } from 'node:url';
import { type ApplicationFailure, type WorkflowHandle, WorkflowFailedError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { defineAgent } from '../../src/define/define-agent.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
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
let stopOwn: () => Promise<void>;
beforeAll(async () => {
  world = await openRunWorld([defineAgent({ name: 'none', tools: [] })]);
  await world.startWorker();
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
}, 120_000);
afterAll(async () => {
  await connection.close();
  await world.close();
});

/** A worker with the workflows of one file, until it is stopped. */
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
  return stop;
}

async function start(type: string, taskQueue: string, ...args: unknown[]): Promise<WorkflowHandle> {
  looks = {};
  const workflowId = world.newRunId(type);
  return world.client.workflow.start(type, { workflowId, taskQueue, args: [world.taskQueue, ...args] });
}

const failureOf = async (handle: WorkflowHandle): Promise<ApplicationFailure> => {
  const error = await handle.result().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  return (error as WorkflowFailedError).cause as ApplicationFailure;
};

const stateOf = async (handle: WorkflowHandle): Promise<string> => (await handle.query<RunStatus>('status')).state;

const questionOf = async (handle: WorkflowHandle): Promise<string> => {
  await expect.poll(() => stateOf(handle), { timeout: 30_000 }).toBe('waiting_for_human');
  return (await handle.query<RunStatus>('status')).pending_question?.question_id ?? '';
};

const codesOf = async (handle: WorkflowHandle): Promise<(string | undefined)[]> =>
  (await world.store.records.forRun(handle.workflowId)).map(({ observed_outcome }) => observed_outcome.error_code);

const taskFailures = async (handle: WorkflowHandle): Promise<number> =>
  ((await handle.fetchHistory()).events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;

describe('a bug in a guarded workflow', () => {
  it('waits for mended code, which goes on where the bug was', { timeout: 180_000 }, async () => {
    const queue = `${world.taskQueue}-bug`;
    const stopBroken = await workerWith('broken.ts', queue);
    onTestFinished(stopBroken);
    const handle = await start('report', queue);
    await expect.poll(() => taskFailures(handle), { timeout: 60_000 }).toBeGreaterThan(0);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(await world.store.archivedRuns.get(handle.workflowId)).toBeNull();
    await stopBroken();

    onTestFinished(await workerWith('mended.ts', queue));
    expect(await handle.result()).toBe('a page about flaky');
    expect(looks['flaky']).toBe(2);
    expect(await world.store.archivedRuns.get(handle.workflowId)).toMatchObject({ outcome: 'completed' });
  });
});

describe('the code of a guarded workflow', () => {
  const queue = () => `${world.taskQueue}-own`;
  beforeAll(async () => {
    stopOwn = await workerWith('own-code.ts', queue());
  }, 60_000);
  afterAll(() => stopOwn());

  it('is refused for good with a policy that cannot be meant, and leaves nothing behind', async () => {
    const handle = await start('misspelt', queue(), { mode: 'enfroce', budget: { max_step: 3, max_tokens: -1 } });
    expect(await failureOf(handle)).toMatchObject({
      type: 'SecondwindRefused',
      nonRetryable: true,
      message: expect.stringMatching(/mode: .*did you mean enforce.*max_step: .*did you mean max_steps.*max_tokens: /),
    });
    expect(await world.store.archivedRuns.get(handle.workflowId)).toBeNull();
  });

  it('may have a child workflow as a step, whose failures are retried and recorded', async () => {
    const handle = await start('parent', queue(), 'flaky');
    expect(await handle.result()).toBe('flaky');
    expect(await codesOf(handle)).toEqual(['Error']);
  });

  it.each([
    ['throws', 'NotFound'],
    ['waits', 'TIMEOUT'],
  ])('asks a person about a child that %s every time', async (how, code) => {
    const handle = await start('parent', queue(), how);
    await handle.signal('answer', { question_id: await questionOf(handle), decision: 'skip', by: 'ada' });
    expect(await handle.result()).toBe('skipped');
    expect(await codesOf(handle)).toEqual([code, code, code]);
  });

  it.each(['terminate', 'cancel'] as const)('tries a child again that others %s', async (end) => {
    const handle = await start('parent', queue(), 'sleeps');
    const childAt = (attempt: number) => world.client.workflow.getHandle(`${handle.workflowId}-child-${attempt}`);
    const isRunning = async (attempt: number) => {
      const described = await childAt(attempt)
        .describe()
        .catch(() => null);
      return described?.status.name === 'RUNNING';
    };
    await expect.poll(() => isRunning(1), { timeout: 20_000 }).toBe(true);
    await childAt(1)[end]();
    await expect.poll(() => isRunning(2), { timeout: 20_000 }).toBe(true);
    expect(await codesOf(handle)).toEqual([end === 'cancel' ? 'CANCELLED_ELSEWHERE' : 'TerminatedFailure']);
    await handle.cancel();
    await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect((await childAt(2).describe()).status.name).toBe('CANCELLED');
    expect(await world.store.archivedRuns.get(handle.workflowId)).toMatchObject({ outcome: 'cancelled' });
  });

  it('is held to the stricter of two effects that it names', async () => {
    const handle = await start('stricter', queue());
    await handle.signal('answer', { question_id: await questionOf(handle), decision: 'skip', by: 'ada' });
    expect(await handle.result()).toBe('skipped');
    expect(looks).toEqual({ ok: 1, 'hangs up': 1 });
  });

  it('may run a step alone, as a run of its own', async () => {
    const handle = await start('oneStep', queue());
    expect(await handle.result()).toEqual(['flaky', 'ok']);
    expect(looks).toEqual({ flaky: 2, ok: 1 });
    const archived = await Promise.all(
      ['look', 'look:2'].map((name) => world.store.archivedRuns.get(`${handle.workflowId}:${name}`)),
    );
    expect(archived).toMatchObject([{ outcome: 'completed' }, { outcome: 'completed' }]);
  });
});
