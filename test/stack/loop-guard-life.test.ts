/** How a guard begins, waits and is stopped, on real Temporal. Needs the shared stack. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TemporalGuards } from '../../src/client/temporal/temporal-guards.ts';
import { NotReachableError } from '../../src/protocol/errors.ts';
import { WORKFLOW_TYPE } from '../../src/protocol/names.ts';
import { guardsOf, newFamily, refusalOf, report, startUnheardWorker } from '../support/guard-world.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { uniqueTaskQueue } from '../support/stack.ts';
import { workflowIdOfGuard } from '../../src/protocol/ids.ts';

let world: RunWorld;
let guards: TemporalGuards;
let stopWorker: () => Promise<void>;
beforeAll(async () => {
  world = await openRunWorld([]);
  guards = guardsOf(world);
  stopWorker = await world.startWorker();
});
afterAll(() => world.close());

describe('a guard', () => {
  it('started past our doors has the default policy, and with one that is none it fails with the path', async () => {
    const family = newFamily(world, 'bare');
    const start = (workflowId: string, args: unknown[]) =>
      world.client.workflow.start(WORKFLOW_TYPE.loopGuard, { workflowId, taskQueue: world.taskQueue, args });
    await start(workflowIdOfGuard(family), []);
    expect(await refusalOf(guards.status(family))).toBe('unknown_loop');
    expect((await guards.completeLoop(report(family))).decision_result.max_reruns).toBe(3);
    const bad: [input: object, problem: string][] = [
      [
        { policy: { reruns: { max_reruns: 'many' } } },
        '$.policy.reruns.max_reruns: expected a whole number from 0 to 100',
      ],
      [{ max_reruns: 101 }, '$.policy.reruns.max_reruns: expected a whole number from 0 to 100'],
      [{ policy: { reruns: { max_rerun: 1 } } }, '$.policy.reruns.max_rerun: unknown key; did you mean max_reruns?'],
      [
        { policy: { fatigue: { base_increment: 5 } } },
        '$.policy.fatigue.base_increment: expected a number from 0 to 1',
      ],
    ];
    for (const [index, [input, message]] of bad.entries()) {
      const refused = await start(`${workflowIdOfGuard(family)}-bad-${index}`, [input]);
      await expect(refused.result()).rejects.toMatchObject({ cause: { type: 'invalid_policy', message } });
    }
  });

  it('that is cancelled ends its family, and its answers stay', async () => {
    const loop = newFamily(world, 'cancel');
    const first = await guards.completeLoop(report(loop));
    const handle = world.client.workflow.getHandle(workflowIdOfGuard(loop));
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ state: { ended: { finalize_reason: null } } });
    expect(await guards.completeLoop(report(loop))).toEqual(first);
    expect(await refusalOf(guards.completeLoop(report(`${loop}_r1`)))).toBe('ended');
  });

  it('that nobody works for says so in time, and the report sent again counts once', async () => {
    const loop = newFamily(world, 'alone');
    const taskQueue = uniqueTaskQueue();
    const hasty = world.clientWith({ taskQueue, guards: { deadlineMs: 500 } }).guards;
    await expect(hasty.completeLoop(report(loop))).rejects.toBeInstanceOf(NotReachableError);
    await expect(hasty.status(loop)).rejects.toBeInstanceOf(NotReachableError);
    const { stop } = await startUnheardWorker(world, taskQueue);
    expect((await guards.completeLoop(report(loop))).decision_result.rerun_count).toBe(1);
    await stop();
  });

  it('survives the restart of its worker', async () => {
    const loop = newFamily(world, 'restart');
    const first = await guards.completeLoop(report(loop));
    await guards.override(loop, { override_fatigue: true, override_by: 'ann' });
    await stopWorker();
    stopWorker = await world.startWorker();
    expect(JSON.stringify(await guards.completeLoop(report(loop)))).toBe(JSON.stringify(first));
    expect((await guards.completeLoop(report(`${loop}_r1`))).decision_result.rerun_count).toBe(2);
    expect((await guards.trace(loop)).overrides).toMatchObject([{ outcome: 'pending' }]);
  });
});
