/**
 * Guards whose worker process is killed between the acceptance of a report and its answer, 20 times, at moments from
 * "decided, and the server has not heard" to "the server has it, the caller perhaps not". Needs the shared stack, which
 * stays up. Each kill hits four guards at that very moment: the process holds their answers until it has all four.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { LoopAnswer } from '../../src/core/guardrails/loop-answer.ts';
import { GUARD_MESSAGE } from '../../src/protocol/names.ts';
import { guardsOf, LOW, newFamily, report, TIRELESS } from '../support/guard-world.ts';
import type { GuardWorkerOptions } from '../support/guard-worker-process.ts';
import { program } from '../support/programs.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowBundlePath } from '../support/stack.ts';
import { familyOf } from '../../src/core/guardrails/loop-ids.ts';
import { workflowIdOfGuard } from '../../src/protocol/ids.ts';

/** Milliseconds between the decisions inside the worker and its death, kill by kill. */
const MOMENTS_MS = [0, 3, 0, 100, 0];
const GUARDS = 4;
/** TIMEOUT_TYPE_START_TO_CLOSE: a worker took the task and was never heard of again. The SDK exports no enum. */
const START_TO_CLOSE = new Set<unknown>([1]);
const isLostTask = (event: HistoryEvent): boolean =>
  START_TO_CLOSE.has(event.workflowTaskTimedOutEventAttributes?.timeoutType);

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

let world: RunWorld;
const children: ChildProcess[] = [];
beforeAll(async () => {
  world = await openRunWorld([]);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world.close();
});

/** Started ahead of its work: loading takes longer than all the rest. */
function prepareWorker(taskQueue: string, diesAnswering: string[], afterMs: number) {
  const options: GuardWorkerOptions = {
    address: inject('temporalAddress'),
    namespace: inject('namespace'),
    taskQueue,
    databaseUrl: world.databaseUrl,
    bundlePath: workflowBundlePath(),
    diesAnswering,
    afterMs,
  };
  const child = spawn(process.execPath, [program('test/support/guard-worker-process.ts'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const ready = once(child.stdout, 'data');
  return {
    work: async () => {
      await ready;
      child.stdin.write('work\n');
    },
    killed: once(child, 'exit').then(([, signal]: unknown[]) => signal),
  };
}

it(
  'a guard killed 20 times between acceptance and answer: the retry gets the same bytes, counts moved once',
  { timeout: 180_000 },
  async () => {
    const began = Date.now();
    const families = Array.from({ length: GUARDS }, () => newFamily(world, 'killed'));
    const loopsAt = (round: number): string[] =>
      families.map((family) => (round === 0 ? family : `${family}_r${round}`));
    const workerOf = (round: number) =>
      prepareWorker(world.taskQueue, round < MOMENTS_MS.length ? loopsAt(round) : [], MOMENTS_MS[round] ?? 0);
    const guards = guardsOf(world, TIRELESS);
    const handleOf = (loop: string) => world.client.workflow.getHandle(workflowIdOfGuard(familyOf(loop)));

    let worker = workerOf(0);
    await worker.work();
    for (const round of MOMENTS_MS.keys()) {
      const next = workerOf(round + 1);
      const bodies = loopsAt(round).map((loop) => report(loop, LOW, { max_reruns: 10 }));
      const first = Promise.all(bodies.map((body) => guards.completeLoop(body)));
      expect(await worker.killed).toBe('SIGKILL');
      await next.work();
      const retried = await Promise.all(bodies.map((body) => guards.completeLoop(body)));
      expect(JSON.stringify(await first)).toBe(JSON.stringify(retried));
      // Past the server's own memory of update ids: the guard itself knows the report.
      const bare = bodies.map((body) =>
        handleOf(body.loop_id).executeUpdate<LoopAnswer, [unknown]>(GUARD_MESSAGE.loopComplete, { args: [body] }),
      );
      expect(JSON.stringify(await Promise.all(bare))).toBe(JSON.stringify(retried));
      for (const [index, loop] of loopsAt(round).entries()) {
        expect(retried[index]?.decision_result).toMatchObject({ decision: 'rerun', rerun_count: round + 1 });
        expect(await guards.status(loop)).toMatchObject({ rerun_count: round + 1 });
      }
      worker = next;
    }

    let lost = 0;
    for (const [index, family] of families.entries()) {
      const { trace } = await guards.trace(family);
      const rounds = [...MOMENTS_MS.keys(), MOMENTS_MS.length];
      expect(trace.map((item) => item.loop_id)).toEqual(rounds.map((round) => loopsAt(round)[index]));
      const { events } = await handleOf(family).fetchHistory();
      lost += (events ?? []).filter(isLostTask).length;
    }
    const kills = MOMENTS_MS.length * GUARDS;
    console.log(`${kills} kills, ${lost} before the server had the answer, in ${Date.now() - began} ms`);
    expect(kills).toBe(20);
    expect(lost).toBeGreaterThanOrEqual(3 * GUARDS);
  },
);
