/**
 * Starts 20 stacks one after the other on one data folder and kills each one's parent with SIGKILL. Needs the binaries
 * in the cache and Linux. It says nothing about a power cut, against which Postgres has fsync on, here too.
 */
import { Client as TemporalClient, Connection } from '@temporalio/client';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { ReadyStack } from '../support/own-stack.ts';
import { processesUsing, startParent, temporaryFolder } from '../support/own-stack.ts';

const KILLS = 20;
const ROWS_BEFORE_A_KILL = 25;
/** These are killed this long after their start: while the database is created, or while parts start. */
const KILLED_WHILE_STARTING = new Map([
  [0, 1_100],
  [7, 700],
  [13, 900],
]);

it.skipIf(process.platform !== 'linux')(
  'a parent killed 20 times leaves no process behind after 5 s and loses nothing that was acknowledged',
  async () => {
    const dataDir = temporaryFolder('killed');
    const acknowledged: number[] = [];
    const workflows: string[] = [];
    const startTimes: number[] = [];
    const endTimes: number[] = [];

    for (let round = 0; round < KILLS; round += 1) {
      const parent = startParent({ dataDir });
      const startingMs = KILLED_WHILE_STARTING.get(round);
      if (startingMs === undefined) {
        const ready = await parent.ready;
        startTimes.push(ready.ms);
        await expectEverythingThere(ready, acknowledged, workflows);
        workflows.push(await startWorkflow(ready, `survives-${round}`));
        await insertUntilCut(ready, acknowledged, () => parent.kill());
      } else {
        await new Promise((resolve) => setTimeout(resolve, startingMs));
        await parent.kill();
      }
      endTimes.push(await processesUsing(dataDir).untilNone(5_000));
      expect(processesUsing(dataDir).list()).toEqual([]);
    }

    const last = startParent({ dataDir });
    await expectEverythingThere(await last.ready, acknowledged, workflows);
    await last.stop();
    expect(acknowledged.length).toBeGreaterThan(ROWS_BEFORE_A_KILL * (KILLS - KILLED_WHILE_STARTING.size));
    console.log(
      `start to ready ${summary(startTimes)}; killed to nothing left ${summary(endTimes)}; ` +
        `${acknowledged.length} rows and ${workflows.length} workflows kept`,
    );
  },
  300_000,
);

/**
 * Inserts row by row. When enough rows are acknowledged, the parent is killed, and the insert in flight may be lost.
 */
async function insertUntilCut(ready: ReadyStack, acknowledged: number[], kill: () => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: ready.databaseUrl });
  const cut = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.once('end', () => resolve());
  });
  await client.connect();
  await client.query('create table if not exists kept (id serial primary key, at timestamptz default now())');
  let killed: Promise<void> | undefined;
  for (let rows = 0; ; rows += 1) {
    if (rows === ROWS_BEFORE_A_KILL) killed = kill();
    const result = await client.query<{ id: number }>('insert into kept default values returning id').catch(() => {});
    if (!result?.rows[0]) break;
    acknowledged.push(result.rows[0].id);
  }
  await killed;
  await cut;
  await client.end().catch(() => {});
}

async function expectEverythingThere(ready: ReadyStack, acknowledged: number[], workflows: string[]): Promise<void> {
  if (acknowledged.length === 0) return;
  const client = new Client({ connectionString: ready.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ id: number }>('select id from kept');
  await client.end();
  const there = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
  await withTemporal(ready, async (temporal) => {
    for (const id of workflows) {
      expect((await temporal.workflow.getHandle(id).describe()).status.name).toBe('RUNNING');
    }
  });
}

/** No worker runs it; it only has to exist afterwards. */
async function startWorkflow(ready: ReadyStack, workflowId: string): Promise<string> {
  await withTemporal(ready, (temporal) => temporal.workflow.start('nobody', { workflowId, taskQueue: 'nobody' }));
  return workflowId;
}

async function withTemporal(ready: ReadyStack, use: (client: TemporalClient) => Promise<unknown>): Promise<void> {
  const connection = await Connection.connect({ address: ready.temporalAddress });
  try {
    await use(new TemporalClient({ connection }));
  } finally {
    await connection.close();
  }
}

function summary(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]} ms (longest ${sorted.at(-1)} ms)`;
}
