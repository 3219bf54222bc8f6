/**
 * No failure, no tax: what a successful step costs, read from the history of a real run and from a store that counts.
 * Needs the shared stack. Says nothing about time: that is the benchmark's part.
 */
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { ActivityStore } from '../../src/activities/store-port.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { sha256Hex, workflowIdOfRun } from '../../src/protocol/ids.ts';
import { CAP } from '../../src/protocol/caps.ts';
import type { Plan } from '../../src/protocol/schemas/plan.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowBundlePath } from '../support/stack.ts';

/** What happened in which order: `tool` for each run of a tool, else the name of the write. */
let happened: string[] = [];
const received: unknown[] = [];

const say = defineTool({
  name: 'say',
  effect: 'read',
  input: z.object({ text: z.string(), times: z.int().default(1) }),
  output: z.json(),
  run: ({ text, times }) => {
    happened.push('tool');
    return text.repeat(times);
  },
});
const take = defineTool({
  name: 'take',
  effect: 'read',
  input: z.object({ given: z.json() }),
  output: z.json(),
  run: ({ given }) => {
    received.push(given);
    return 'taken';
  },
});

let world: RunWorld;
let stop = (): Promise<void> => Promise.resolve();
beforeAll(async () => {
  world = await openRunWorld([defineAgent({ name: 'sayer', tools: [say, take] })]);
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const worker = await createWorker({
    connection,
    namespace: inject('namespace'),
    registry: world.registry,
    store: counting(world.store),
    taskQueue: world.taskQueue,
    workflowBundlePath: workflowBundlePath(),
  });
  const running = worker.run();
  stop = async () => {
    worker.shutdown();
    await running;
    await connection.close();
  };
});
afterAll(async () => {
  await stop();
  await world.close();
});

function counting(store: ActivityStore): ActivityStore {
  const noted = <T>(name: string, written: T): T => {
    happened.push(name);
    return written;
  };
  return {
    records: { append: (...given) => noted('records.append', store.records.append(...given)) },
    revisions: { append: (...given) => noted('revisions.append', store.revisions.append(...given)) },
    artifacts: {
      putMany: (...given) => noted('artifacts.putMany', store.artifacts.putMany(...given)),
      getMany: (ids) => store.artifacts.getMany(ids),
      get: (id) => store.artifacts.get(id),
    },
    archivedRuns: { put: (...given) => noted('archivedRuns.put', store.archivedRuns.put(...given)) },
  };
}

async function lived(name: string, plan: Plan) {
  happened = [];
  const run_id = world.newRunId(name);
  await world.runs.start({ agent: 'sayer', goal: 'say it', run_id, plan });
  const result = await world.runs.result(run_id);
  const handle = world.client.workflow.getHandle(workflowIdOfRun(run_id));
  const { events = [] } = await handle.fetchHistory();
  return { run_id, result, events: events ?? [] };
}
type Events = Awaited<ReturnType<typeof lived>>['events'];

const scheduled = (events: Events): string[] =>
  events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
const count = (events: Events, attributes: keyof Events[number]): number =>
  events.filter((event) => event[attributes] !== undefined && event[attributes] !== null).length;
const saying = (text: string, times = 1) => ({ phase: 'p', tool: 'say', input: { text, times } });

describe('a plan of ten steps that succeed', () => {
  it('costs ten tool activities, one archive, and one workflow task for each of them and the start', async () => {
    const steps = Array.from({ length: 10 }, (_, index) => saying(`step ${index}`));
    const { result, events } = await lived('ten', { steps });
    expect(result).toMatchObject({ outcome: 'completed', used: { steps: 10, attempts: 10 } });
    expect(scheduled(events)).toEqual([...Array.from({ length: 10 }, () => 'tool.say'), 'archive']);
    expect(count(events, 'workflowTaskCompletedEventAttributes')).toBe(1 + 10 + 1);
    expect(count(events, 'workflowTaskFailedEventAttributes')).toBe(0);
    expect(count(events, 'timerStartedEventAttributes')).toBe(0);
    expect(count(events, 'markerRecordedEventAttributes')).toBe(0);
    expect(count(events, 'workflowExecutionSignaledEventAttributes')).toBe(0);
    // The ending is shown in lists with the task that completes the run anyway.
    expect(count(events, 'upsertWorkflowSearchAttributesEventAttributes')).toBeLessThanOrEqual(1);
    expect(count(events, 'workflowPropertiesModifiedEventAttributes')).toBeLessThanOrEqual(1);
    console.log(`ten steps: ${events.length} events, ${bytesOf(events)} bytes of payloads`);
  });

  it('writes nothing to the store before the archive, and then every output once', async () => {
    const steps = Array.from({ length: 10 }, (_, index) => saying(`kept ${index}`));
    await lived('writes', { steps });
    const tools = Array.from({ length: 10 }, () => 'tool');
    expect(happened).toEqual([...tools, 'artifacts.putMany', 'archivedRuns.put']);
    const ids = steps.map((_, index) => sha256Hex(JSON.stringify(`kept ${index}`)));
    expect((await world.store.artifacts.has(ids)).size).toBe(10);
  });

  it('costs the same side by side, with fewer workflow tasks', async () => {
    const steps = Array.from({ length: 10 }, (_, index) => ({ ...saying(`beside ${index}`), after: [] }));
    const { events } = await lived('beside', { steps });
    expect(scheduled(events)).toHaveLength(11);
    expect(count(events, 'workflowTaskCompletedEventAttributes')).toBeLessThanOrEqual(12);
  });
});

describe('a large output', () => {
  it('travels as an id, with its bytes in the store, and the next step gets it whole', async () => {
    received.length = 0;
    const { events, result } = await lived('large', {
      steps: [
        { id: 'big', ...saying('x', 100_000) },
        { phase: 'p', tool: 'take', input: { given: { $step: 'big' } } },
      ],
    });
    expect(result.outcome).toBe('completed');
    const text = JSON.stringify('x'.repeat(100_000));
    const id = sha256Hex(text);
    expect(outputs(events)[0]).toMatchObject({
      class: 'ok',
      output: null,
      inline: false,
      artifact_id: id,
      bytes: 100_002,
    });
    expect(bytesOf(events)).toBeLessThan(20_000);
    expect(received).toEqual(['x'.repeat(100_000)]);
    const kept = await world.store.artifacts.get(id);
    expect(new TextDecoder().decode(kept?.bytes)).toBe(text);
    // Written by the activity that made it, and not again with the archive.
    expect(happened.slice(0, 2)).toEqual(['tool', 'artifacts.putMany']);
  });

  it.each([
    [CAP.inlineOutputBytes, true],
    [CAP.inlineOutputBytes + 1, false],
  ])('begins beyond 8 KB: of %i bytes it is %s that they travel', async (bytes, inline) => {
    // Two bytes are the quotes of the text.
    const { events } = await lived('edge', { steps: [saying('y', bytes - 2)] });
    expect(outputs(events)[0]).toMatchObject({ inline, bytes });
  });
});

/** What the tool activities returned. */
const outputs = (events: Events): unknown[] =>
  events
    .flatMap((event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [])
    // The archive returns nothing, which is a payload without data.
    .flatMap(({ data }) => (data?.length ? [JSON.parse(new TextDecoder().decode(data)) as unknown] : []));

const bytesOf = (events: Events): number =>
  events
    .flatMap((event) => [
      ...(event.workflowExecutionStartedEventAttributes?.input?.payloads ?? []),
      ...(event.activityTaskScheduledEventAttributes?.input?.payloads ?? []),
      ...(event.activityTaskCompletedEventAttributes?.result?.payloads ?? []),
    ])
    .reduce((bytes, payload) => bytes + (payload.data?.length ?? 0), 0);
