/**
 * A cancel ends a run wherever it stands, stops its work, and leaves a summary. Each of the three ways to ask for it, in
 * each of the places a run can be. Needs the shared stack. Killed workers are not tested here: see test/kill.
 */
import { NativeConnection } from '@temporalio/worker';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { QUERY } from '../../src/protocol/names.ts';
import type { RunLifeState, RunResult } from '../../src/protocol/run.ts';
import { scriptedPlanner } from '../../src/testing.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { eventually } from '../support/eventually.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { uniqueTaskQueue, workflowBundlePath } from '../support/stack.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';

/** What a tool saw of its end, by the key of the step. */
interface Seen {
  started: Event;
  aborted: Event;
}
interface Event {
  happened: Promise<number>;
  now: () => void;
}
function event(): Event {
  let now = (): void => {};
  const happened = new Promise<number>((resolve) => {
    now = () => resolve(Date.now());
  });
  return { happened, now };
}
const seen = new Map<string, Seen>();
const seenBy = (key: string): Seen => {
  const known = seen.get(key) ?? { started: event(), aborted: event() };
  seen.set(key, known);
  return known;
};

const parts = { input: z.object({ key: z.string() }), output: z.json(), timeoutMs: 60_000 };
const reacts = defineTool({
  name: 'wait.reacts',
  effect: 'side_effect',
  ...parts,
  run: ({ key }, { signal }) =>
    new Promise((_, reject) => {
      seenBy(key).started.now();
      signal.addEventListener('abort', () => {
        seenBy(key).aborted.now();
        reject(signal.reason as Error);
      });
    }),
});
const ignores = defineTool({
  name: 'wait.ignores',
  effect: 'side_effect',
  ...parts,
  run: ({ key }, { signal }) =>
    new Promise((resolve) => {
      seenBy(key).started.now();
      signal.addEventListener('abort', () => seenBy(key).aborted.now());
      setTimeout(() => resolve('much later'), 40_000).unref();
    }),
});

/** A model that thinks for a long time and cannot be interrupted. */
const thinker = defineAgent({
  name: 'thinker',
  tools: [],
  planner: scriptedPlanner(
    (view) =>
      new Promise((resolve) => {
        seenBy(`${view.run_id} planner`).started.now();
        setTimeout(() => resolve({ calls: [] }), 40_000).unref();
      }),
  ),
});

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([demoAgent, thinker, defineAgent({ name: 'waiter', tools: [reacts, ignores] })]);
  await world.startWorker();
});
afterAll(() => world.close());

const handleOf = (runId: string) => world.client.workflow.getHandle(workflowIdOfRun(runId));

const ways = {
  'our client': {
    cancel: (runId: string) => world.runs.cancel(runId, { by: 'ada', reason: 'enough' }, { waitMs: 0 }),
    why: expect.stringContaining('ada cancelled the run: enough'),
    closed: 'CANCELLED',
  },
  'the signal cancel_run': {
    cancel: (runId: string) => handleOf(runId).signal('cancel_run', { by: 'ada', reason: 'enough' }),
    why: expect.stringContaining('ada cancelled the run: enough'),
    closed: 'COMPLETED',
  },
  'Temporal’s own cancel': {
    cancel: (runId: string) => handleOf(runId).cancel(),
    why: expect.stringContaining('temporal cancelled the run'),
    closed: 'CANCELLED',
  },
};

const demo = (error_code: string, policy: object = {}) => ({
  agent: 'demo',
  plan: { steps: [{ phase: 'p', tool: 'demo.flaky', input: { fail_times: 9, error_code } }] },
  policy,
});
const waiting =
  (...tools: string[]) =>
  (runId: string) => ({
    agent: 'waiter',
    plan: { steps: tools.map((tool) => ({ phase: 'p', tool, input: { key: `${runId} ${tool}` }, after: [] })) },
  });
const inState = (state: RunLifeState) => async (runId: string) => {
  await eventually(
    async () => (await world.runs.get(runId)).state,
    (seen) => seen === state,
    { intervalMs: 20 },
  );
};
const started =
  (...tools: string[]) =>
  async (runId: string) => {
    for (const tool of tools) await seenBy(`${runId} ${tool}`).started.happened;
  };

/**
 * A cancel takes up to 4 s where a tool ignores it: a heartbeat brings the news after 1 s, and 3 s are left to tidy up. The
 * rest is for a busy machine. Nothing here ends by itself within a minute.
 */
const PROMPT_MS = 20_000;

const places = {
  'a tool that reacts': {
    request: waiting('wait.reacts'),
    there: started('wait.reacts'),
    aborts: ['wait.reacts'],
  },
  'a tool that ignores its signal': {
    request: waiting('wait.ignores'),
    there: started('wait.ignores'),
    aborts: ['wait.ignores'],
  },
  'two tools side by side': {
    request: waiting('wait.reacts', 'wait.ignores'),
    there: started('wait.reacts', 'wait.ignores'),
    aborts: ['wait.reacts', 'wait.ignores'],
  },
  'a planner that thinks': {
    request: () => ({ agent: 'thinker' }),
    there: started('planner'),
    aborts: [],
  },
  'a back-off': {
    request: () => demo('server_error', { retry: { base_ms: 60_000 } }),
    there: inState('backing_off'),
    aborts: [],
  },
  'a wait for a person': {
    request: () => demo('auth'),
    there: inState('waiting_for_human'),
    aborts: [],
  },
};

const took: Record<string, number[]> = {};
afterAll(() => {
  for (const [where, times] of Object.entries(took)) console.log(`cancelled in ${where}: ${times.join(', ')} ms`);
});

describe.concurrent.each(Object.entries(ways))('a cancel by %s', (_by, { cancel, why, closed }) => {
  it.each(Object.entries(places))('ends a run in %s', async (where, { request, there, aborts }) => {
    const run_id = world.newRunId('cancel');
    await world.runs.start({ goal: 'never end', run_id, ...request(run_id) });
    await there(run_id);

    const began = Date.now();
    await cancel(run_id);
    const result = await world.runs.result(run_id);
    const ms = Date.now() - began;
    (took[where] ??= []).push(ms);

    expect(result).toMatchObject({ run_id, outcome: 'cancelled', reason: 'cancelled', why });
    expect(ms).toBeLessThan(PROMPT_MS);
    for (const tool of aborts) expect(await seenBy(`${run_id} ${tool}`).aborted.happened).toBeGreaterThanOrEqual(began);
    expect((await handleOf(run_id).describe()).status.name).toBe(closed);
    // The same ending from the run itself, from its status and from the archive.
    expect(await handleOf(run_id).query<RunResult>(QUERY.result)).toMatchObject({ outcome: 'cancelled', why });
    expect(await world.runs.get(run_id)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    expect((await world.store.archivedRuns.get(run_id))?.summary).toMatchObject({
      result: { outcome: 'cancelled', why },
    });
  });
});

describe('a cancel', () => {
  it('counts no failure against the tool that it stopped', async () => {
    const run_id = world.newRunId('clean');
    await world.runs.start({ goal: 'never end', run_id, ...waiting('wait.reacts')(run_id) });
    await seenBy(`${run_id} wait.reacts`).started.happened;
    await world.runs.cancel(run_id, { by: 'ada' }, { waitMs: 0 });
    expect(await world.runs.result(run_id)).toMatchObject({ failures: { total: 0 }, used: { attempts: 1 } });
    expect(await world.store.records.forRun(run_id)).toEqual([]);
  });

  it('of a run that no worker has taken yet ends it as soon as one does', async () => {
    const run_id = world.newRunId('before');
    const taskQueue = uniqueTaskQueue();
    await world.client.workflow.start('agentRun', {
      workflowId: workflowIdOfRun(run_id),
      taskQueue,
      args: [{ agent: 'demo', goal: 'g' }],
    });
    await handleOf(run_id).cancel();
    const stop = await workerOn(taskQueue, world.store);
    expect(await world.runs.result(run_id)).toMatchObject({
      outcome: 'cancelled',
      used: { attempts: expect.any(Number) },
    });
    await stop();
  });

  it('that comes while the ending is written changes nothing: the run is completed, here and there', async () => {
    const run_id = world.newRunId('late');
    const taskQueue = uniqueTaskQueue();
    const [reached, goOn] = [event(), event()];
    const { archivedRuns } = world.store;
    const slowStore = {
      ...world.store,
      archivedRuns: {
        put: async (run: Parameters<typeof archivedRuns.put>[0]) => {
          reached.now();
          await goOn.happened;
          return archivedRuns.put(run);
        },
      },
    };
    const stop = await workerOn(taskQueue, slowStore);
    await world.client.workflow.start('agentRun', {
      workflowId: workflowIdOfRun(run_id),
      taskQueue,
      args: [{ agent: 'demo', goal: 'g', policy: { retry: { base_ms: 1 } } }],
    });
    await reached.happened;
    await handleOf(run_id).cancel();
    goOn.now();
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    expect((await handleOf(run_id).describe()).status.name).toBe('COMPLETED');
    await stop();
  });
});

async function workerOn(
  taskQueue: string,
  store: Parameters<typeof createWorker>[0]['store'],
): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const worker = await createWorker({
    connection,
    namespace: inject('namespace'),
    registry: world.registry,
    store,
    taskQueue,
    workflowBundlePath: workflowBundlePath(),
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
    await connection.close();
  };
}
