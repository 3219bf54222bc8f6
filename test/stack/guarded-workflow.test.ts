/**
 * A workflow that is not ours, with guarded steps, on a worker of its own; a Secondwind worker keeps its memory. Real
 * Temporal, real Postgres. The workflow is the one of examples/.
 */
import { fileURLToPath } from 'node:url';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { BillingActivities } from '../../examples/guarded-workflow.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

/** How each order's calls go, and how often each was really made. */
let charges: Record<string, number> = {};
let mails: Record<string, number> = {};
const activities: BillingActivities = {
  charge: async (order) => {
    charges[order] = (charges[order] ?? 0) + 1;
    if (order === 'unsure') throw new Error('socket hang up');
    if (order === 'declined') throw new Error('card declined');
    if (order === 'busy' && charges[order] < 3) {
      const details = [{ category: 'rate_limit', certainty: 'not_started', retry_after_ms: 20 }];
      throw ApplicationFailure.create({ message: 'try later', type: 'Busy', details });
    }
    if (order === 'refused') {
      const details = [{ certainty: 'failed' }];
      throw ApplicationFailure.create({ message: 'card refused', type: 'CardRefused', nonRetryable: true, details });
    }
    return `receipt of ${order}`;
  },
  mailReceipt: async (order) => {
    mails[order] = (mails[order] ?? 0) + 1;
    if (order === 'late' && mails[order] < 3) throw new Error('mail server is away');
  },
};

let world: RunWorld;
let worker: Worker;
let running: Promise<void>;
let connection: NativeConnection;
const queue = (): string => `${world.taskQueue}-own`;
beforeAll(async () => {
  world = await openRunWorld([defineAgent({ name: 'none', tools: [] })]);
  await world.startWorker();
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  worker = await Worker.create({
    connection,
    namespace: inject('namespace'),
    taskQueue: queue(),
    workflowsPath: fileURLToPath(new URL('../../examples/guarded-workflow.ts', import.meta.url)),
    bundlerOptions: exampleBundle,
    activities,
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
  await world.close();
});

async function start(order: string) {
  charges = {};
  mails = {};
  const workflowId = world.newRunId(order);
  const handle = await world.client.workflow.start('bill', {
    workflowId,
    taskQueue: queue(),
    args: [order, world.taskQueue],
  });
  const status = () => handle.query<RunStatus>('status');
  const question = async () => {
    await expect.poll(async () => (await status()).state, { timeout: 20_000 }).toBe('waiting_for_human');
    return (await status()).pending_question?.question_id ?? '';
  };
  return { handle, workflowId, status, question };
}

describe('a workflow of your own', () => {
  it('does its work with one activity a step, and leaves a summary behind', async () => {
    const { handle, workflowId } = await start('plain');
    expect(await handle.result()).toBe('receipt of plain');
    expect([charges['plain'], mails['plain']]).toEqual([1, 1]);
    const archived = await world.store.archivedRuns.get(workflowId);
    expect(archived).toMatchObject({ agent: 'billing', outcome: 'completed' });
  });

  it('has its failures retried, recorded and resolved', async () => {
    const { handle, workflowId } = await start('late');
    await handle.result();
    expect(mails['late']).toBe(3);
    const records = await world.store.records.forRun(workflowId);
    expect(records).toHaveLength(2);
    expect(new Set(records.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    const [failure] = (await handle.query<{ failures: { status: string; occurrence_count: number }[] }>('failures'))
      .failures;
    expect(failure).toMatchObject({ status: 'resolved', occurrence_count: 2 });
  });

  it('asks a person about a side effect that nobody knows the end of, and never repeats it by itself', async () => {
    const { handle, question } = await start('unsure');
    await handle.signal('answer', { question_id: await question(), decision: 'skip', by: 'ada' });
    expect(await handle.result()).toBe('not charged');
    expect(charges['unsure']).toBe(1);
  });

  it('says in its question what the side effect failed with', async () => {
    const { handle, status, question } = await start('declined');
    const question_id = await question();
    expect((await status()).pending_question?.text).toContain(
      'failed with: card declined; it is not known whether its effect happened',
    );
    await handle.signal('answer', { question_id, decision: 'skip', by: 'ada' });
    expect(await handle.result()).toBe('not charged');
    expect(charges['declined']).toBe(1);
  });

  it('retries a side effect whose activity states that nothing was started', async () => {
    const { handle, workflowId } = await start('busy');
    expect(await handle.result()).toBe('receipt of busy');
    expect(charges['busy']).toBe(3);
    expect(await world.store.records.forRun(workflowId)).toMatchObject([
      { observed_outcome: { error_code: 'Busy' } },
      { observed_outcome: { error_code: 'Busy' } },
    ]);
  });

  it('asks at once about a failure that states that a retry is useless', async () => {
    const { handle, status, question } = await start('refused');
    const question_id = await question();
    const { text = '' } = (await status()).pending_question ?? {};
    expect(text).toContain('CardRefused card refused');
    expect(text).not.toContain('not known');
    await handle.signal('answer', { question_id, decision: 'skip', by: 'ada' });
    await handle.result();
    expect(charges['refused']).toBe(1);
  });

  it('ends with a typed result when a person stops it', async () => {
    const { handle, question } = await start('unsure');
    await handle.executeUpdate('answer', { args: [{ question_id: await question(), decision: 'stop', by: 'ada' }] });
    const error = await handle.result().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    const cause = (error as WorkflowFailedError).cause as ApplicationFailure;
    expect(cause).toMatchObject({
      type: 'SecondwindStopped',
      message: expect.stringContaining('ada stopped the run at step 1') as string,
    });
    expect(cause.details?.[0]).toMatchObject({ outcome: 'finalized', reason: 'stopped_by_human' });
  });

  it('is cancelled in the middle of a question, and says so in its archive', async () => {
    const { handle, workflowId, question } = await start('unsure');
    await question();
    await handle.cancel();
    await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect(await world.store.archivedRuns.get(workflowId)).toMatchObject({ outcome: 'cancelled' });
  });
});
