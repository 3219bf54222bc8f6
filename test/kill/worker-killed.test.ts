/**
 * Workers in their own processes are killed in the middle of a step, on a separate stack. This does not prove anything
 * about a lost machine's disk: Temporal and Postgres stay up, except where Postgres itself is killed.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunStatus } from '../../src/protocol/run.ts';
import { killableAgent, type WorkerProcessOptions } from '../support/killable-agent.ts';
import { program } from '../support/programs.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowBundlePath } from '../support/stack.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';

const RUNS = 20;
/** The goal is this plus 2 s, and the test prints the figure. The assertion leaves room for a busy machine. */
const HEARTBEAT_TIMEOUT_MS = 5_000;

let world: RunWorld;
let folder: string;
let noteFile: string;
type WorkerProcess = ChildProcessByStdio<Writable, Readable, null>;
const children: WorkerProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-kill-'));
  noteFile = join(folder, 'notes');
  world = await openRunWorld([killableAgent(noteFile)]);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startWorkerProcess(standby = false): Promise<WorkerProcess> {
  const options: WorkerProcessOptions = {
    address: inject('temporalAddress'),
    namespace: inject('namespace'),
    taskQueue: world.taskQueue,
    databaseUrl: world.databaseUrl,
    bundlePath: workflowBundlePath(),
    noteFile,
    standby,
  };
  const child = spawn(process.execPath, [program('test/support/worker-process.ts'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

const notes = (what: string) =>
  (existsSync(noteFile) ? readFileSync(noteFile, 'utf8') : '')
    .split('\n')
    .filter((line) => line.startsWith(`${what} `));

/** Starts the runs and waits until all their tools have started. */
async function startRuns(tools: string[], name: string): Promise<string[]> {
  const before = notes('begun').length + notes('effect').length;
  const ids = await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const run_id = world.newRunId(name);
      const tool = tools[index % tools.length] ?? '';
      const plan = { steps: [{ phase: 'work', tool, input: {} }] };
      await world.runs.start({ agent: 'killable', goal: 'survive', run_id, plan, policy: { retry: { base_ms: 100 } } });
      return run_id;
    }),
  );
  await expect.poll(() => notes('begun').length + notes('effect').length - before, { timeout: 30_000 }).toBe(RUNS);
  return ids;
}

const statusOfAll = (ids: string[]): Promise<RunStatus[]> => Promise.all(ids.map((id) => world.runs.get(id)));

/** How long after `since` each run continued: its next attempt was scheduled, or its question was asked. */
async function movedOnAfterMs(ids: string[], since: number): Promise<number[]> {
  return Promise.all(
    ids.map(async (id) => {
      const { events } = await world.client.workflow.getHandle(workflowIdOfRun(id)).fetchHistory();
      const wentOn = (events ?? []).filter(
        (event) =>
          event.workflowPropertiesModifiedEventAttributes ||
          event.activityTaskScheduledEventAttributes?.activityType?.name?.startsWith('tool.'),
      );
      const { eventTime } = wentOn[1] ?? {};
      return Number(eventTime?.seconds) * 1000 + Number(eventTime?.nanos) / 1e6 - since;
    }),
  );
}

describe('a worker killed with SIGKILL in mid-step', () => {
  it(`a worker killed with SIGKILL in mid-step loses nothing: ${RUNS} of ${RUNS} runs of a read tool complete, without a failure record`, async () => {
    const doomed = await startWorkerProcess();
    const ids = await startRuns(['hang.read'], 'read');
    const next = await startWorkerProcess(true);
    doomed.kill('SIGKILL');
    const killedAt = Date.now();
    next.stdin.write('go\n');
    const results = await Promise.all(ids.map((id) => world.runs.result(id)));
    expect(results.map((result) => [result.outcome, result.used.attempts, result.failures.total])).toEqual(
      ids.map(() => ['completed', 2, 0]),
    );
    for (const id of ids) expect(await world.store.records.forRun(id)).toEqual([]);
    const slowest = Math.max(...(await movedOnAfterMs(ids, killedAt)));
    console.log(`read: the slowest of ${RUNS} runs moved on ${slowest.toFixed(0)} ms after the kill`);
    expect(slowest).toBeLessThan(3 * HEARTBEAT_TIMEOUT_MS);
    next.kill('SIGKILL');
  });

  it(`a worker killed with SIGKILL in mid-step never repeats a side effect: ${RUNS} effects, ${RUNS} questions, each record once`, async () => {
    const doomed = await startWorkerProcess();
    const effectsBefore = notes('effect').length;
    const ids = await startRuns(['hang.effect'], 'effect');
    const next = await startWorkerProcess(true);
    doomed.kill('SIGKILL');
    const killedAt = Date.now();
    next.stdin.write('go\n');
    await expect
      .poll(async () => (await statusOfAll(ids)).filter((status) => status.state === 'waiting_for_human').length, {
        timeout: 30_000,
      })
      .toBe(RUNS);
    const slowest = Math.max(...(await movedOnAfterMs(ids, killedAt)));
    console.log(`side effect: the slowest of ${RUNS} runs moved on ${slowest.toFixed(0)} ms after the kill`);
    expect(slowest).toBeLessThan(3 * HEARTBEAT_TIMEOUT_MS);
    const questions = (await statusOfAll(ids)).map((status) => status.pending_question?.question_id);
    expect(questions).toEqual(ids.map((id) => `${id}:q1`));
    await Promise.all(ids.map((id) => world.runs.answer(id, { question_id: `${id}:q1`, decision: 'stop', by: 'ada' })));
    const results = await Promise.all(ids.map((id) => world.runs.result(id)));
    expect(results.map((result) => result.outcome)).toEqual(ids.map(() => 'finalized'));
    expect(notes('effect').length - effectsBefore).toBe(RUNS);
    for (const id of ids) {
      const records = await world.store.records.forRun(id);
      expect(records.map((record) => record.observed_outcome.kind)).toEqual(['side_effect_unknown']);
    }
    next.kill('SIGKILL');
  });
});

describe('a worker told to stop with SIGTERM in mid-step', () => {
  it(`a worker told to stop with SIGTERM in mid-step hands its work over: ${RUNS} of ${RUNS} complete without a failure record, and what can finish in its grace does`, async () => {
    const leaving = await startWorkerProcess();
    const effectsBefore = notes('effect').length;
    const ids = await startRuns(['hang.read', 'finish.effect'], 'term');
    leaving.kill('SIGTERM');
    const next = await startWorkerProcess();
    const results = await Promise.all(ids.map((id) => world.runs.result(id)));
    expect(results.map((result) => [result.outcome, result.used.attempts, result.failures.total])).toEqual(
      ids.map((_, index) => ['completed', index % 2 === 0 ? 2 : 1, 0]),
    );
    expect(notes('effect').length - effectsBefore).toBe(RUNS / 2);
    next.kill('SIGKILL');
  });
});

describe('a Postgres killed while failures are being recorded', () => {
  it('a Postgres killed while failures are being recorded does not stop a run, and every record arrives exactly once', async () => {
    const worker = await startWorkerProcess();
    const ids = await startRuns(['fail.thrice'], 'pg');
    process.kill(await postmasterPid(), 'SIGKILL');
    const results = await Promise.all(ids.map((id) => world.runs.result(id)));
    expect(results.map((result) => [result.outcome, result.used.attempts])).toEqual(ids.map(() => ['completed', 4]));
    // On a busy machine Postgres may need longer to come back than the runs to end.
    await expect
      .poll(async () => (await statusOfAll(ids)).map(({ unsaved }) => unsaved), { timeout: 60_000 })
      .toEqual(ids.map(() => ({ records: 0, outputs: 0, archive: false })));
    for (const id of ids) {
      const records = await world.store.records.forRun(id);
      expect(records.map((record) => record.failure_id)).toEqual([1, 2, 3].map((attempt) => `${id}:s1:a${attempt}:f0`));
    }
    worker.kill('SIGKILL');
  });
});

async function postmasterPid(): Promise<number> {
  const admin = new PgClient({ connectionString: inject('databaseUrl') });
  await admin.connect();
  const { rows } = await admin.query<{ data_directory: string }>('show data_directory');
  await admin.end();
  return Number(readFileSync(join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n')[0]);
}
