/**
 * A worker that freezes in the middle of a side effect and wakes up after the run has given its attempt up. The effect
 * happens once: the tool is asked only when the old attempt cannot act any more, and a call that the frozen worker took
 * is refused. On a stack of its own, since a stopped process also holds up what it shares with others.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { killableAgent, type WorkerProcessOptions } from '../support/killable-agent.ts';
import { program } from '../support/programs.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowBundlePath } from '../support/stack.ts';

const RUNS = 4;
type WorkerProcess = ChildProcessByStdio<Writable, Readable, null>;
const children: WorkerProcess[] = [];
let world: RunWorld;
let folder: string;
let noteFile: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-frozen-'));
  noteFile = join(folder, 'notes');
  world = await openRunWorld([killableAgent(noteFile)]);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startWorkerProcess(): Promise<WorkerProcess> {
  const options: WorkerProcessOptions = {
    address: inject('temporalAddress'),
    namespace: inject('namespace'),
    taskQueue: world.taskQueue,
    databaseUrl: world.databaseUrl,
    bundlePath: workflowBundlePath(),
    noteFile,
  };
  const child = spawn(process.execPath, [program('test/support/worker-process.ts'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

const notes = (what: string): string[] =>
  (existsSync(noteFile) ? readFileSync(noteFile, 'utf8') : '')
    .split('\n')
    .filter((line) => line.startsWith(`${what} `));

it('a frozen worker whose attempt acts when it wakes up does not make the effect happen twice', async () => {
  const frozen = await startWorkerProcess();
  const ids = await Promise.all(
    Array.from({ length: RUNS }, async () => {
      const run_id = world.newRunId('frozen');
      const plan = { steps: [{ phase: 'work', tool: 'late.effect', input: {} }] };
      await world.runs.start({ agent: 'killable', goal: 'act once', run_id, plan, policy: { retry: { base_ms: 10 } } });
      return run_id;
    }),
  );
  await expect.poll(() => notes('begun').length, { timeout: 30_000 }).toBe(RUNS);
  frozen.kill('SIGSTOP');
  await startWorkerProcess();
  // The server gives the attempts up after 5 s without a heartbeat; the worker wakes up before their timeout of 15 s.
  const stoppedAt = Date.now();
  await expect.poll(() => Date.now() - stoppedAt, { timeout: 20_000, interval: 500 }).toBeGreaterThan(9_000);
  frozen.kill('SIGCONT');
  const results = await Promise.all(ids.map((id) => world.runs.result(id)));
  expect(results.map(({ outcome }) => outcome)).toEqual(Array(RUNS).fill('completed'));
  expect(notes('effect')).toHaveLength(RUNS);
  expect(results.map(({ questions }) => questions)).toEqual(Array(RUNS).fill(0));
}, 120_000);
