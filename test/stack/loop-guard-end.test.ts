/**
 * What remains of a guard after its family has ended: in the closed workflow, and in the store once Temporal has
 * forgotten it. Needs the shared stack. Deleting the execution stands for the end of the retention.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { NOT_OPEN, openGuard } from '../../src/client/temporal/guard-updates.ts';
import type { TemporalGuards } from '../../src/client/temporal/temporal-guards.ts';
import { GUARD_MESSAGE } from '../../src/protocol/names.ts';
import { hashOfJson, workflowIdOfGuard } from '../../src/protocol/ids.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import {
  forget,
  GOOD,
  guardsOf,
  LOW,
  newFamily,
  refusalOf,
  report,
  startUnheardWorker,
} from '../support/guard-world.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

let world: RunWorld;
let guards: TemporalGuards;
beforeAll(async () => {
  world = await openRunWorld([]);
  guards = guardsOf(world);
  await world.startWorker();
});
afterAll(() => world.close());

/** Two loops: one that is run again, one that is good. */
async function twoLoops(name: string, through: TemporalGuards) {
  const loop = newFamily(world, name);
  const tags = ['confirmation', { tag: 'confirmation' }, 'anchor\u0000ing'];
  const bodies = [report(loop, { ...LOW, bias_tags: tags }), report(`${loop}_r1`, GOOD)];
  const answers: string[] = [];
  for (const body of bodies) answers.push(JSON.stringify(await through.completeLoop(body)));
  return { loop, bodies, answers, handle: world.client.workflow.getHandle(workflowIdOfGuard(loop)) };
}

async function endedFamily(name: string) {
  const told = await twoLoops(name, guards);
  await told.handle.result();
  const { runId } = await told.handle.describe();
  return { ...told, runId };
}

async function expectTheSameAnswers({ loop, bodies, answers }: Awaited<ReturnType<typeof twoLoops>>): Promise<void> {
  for (const [index, body] of bodies.entries()) {
    expect(JSON.stringify(await guards.completeLoop(body))).toBe(answers[index]);
  }
  expect(await refusalOf(guards.completeLoop(report(loop, GOOD)))).toBe('other_body');
  expect(await refusalOf(guards.completeLoop(report(`${loop}_r2`)))).toBe('ended');
  expect(await refusalOf(guards.override(loop, { override_fatigue: true, override_by: 'ann' }))).toBe('ended');
  expect(await refusalOf(guards.status(`${loop}_r2`))).toBe('unknown_loop');
  expect(await guards.status(loop)).toMatchObject({ rerun_count: 1, finalize_reason: 'thresholds_met' });
  expect((await guards.trace(loop)).trace.map((item) => item.status)).toEqual(['rerun', 'finalized']);
}

describe('after the end', () => {
  it('the same report gets the same bytes, anything else is a conflict, and there is never a fresh guard', async () => {
    const ended = await endedFamily('ended');
    await expectTheSameAnswers(ended);
    const { runId, status } = await ended.handle.describe();
    expect([runId, status.name]).toEqual([ended.runId, 'COMPLETED']);
  });

  it('the server refuses a fresh guard also to a caller who has not looked before', async () => {
    const { loop, runId, handle } = await endedFamily('unlooked');
    const args: [unknown] = [report(loop)];
    const update = { family: loop, name: GUARD_MESSAGE.loopComplete, updateId: 'another', args };
    expect(await openGuard(world.client, update, { taskQueue: world.taskQueue, input: {} })).toBe(NOT_OPEN);
    expect((await handle.describe()).runId).toBe(runId);
  });

  it('a guard that was terminated gives nothing away, and its name stays taken', async () => {
    const loop = newFamily(world, 'terminated');
    await guards.completeLoop(report(loop));
    await world.client.workflow.getHandle(workflowIdOfGuard(loop)).terminate('test');
    expect(await refusalOf(guards.completeLoop(report(`${loop}_r1`)))).toBe('ended');
    expect(await refusalOf(guards.completeLoop(report(loop, GOOD)))).toBe('ended');
  });
});

describe('after the retention', () => {
  it('the store answers with the same bytes, and the family stays closed', async () => {
    const { taskQueue, stop } = await startUnheardWorker(world);
    const elsewhere = world.clientWith({ taskQueue }).guards;
    const told = await twoLoops('forgotten', elsewhere);
    await expect.poll(() => world.store.archivedGuards.get(told.loop)).not.toBeNull();
    // Ended, not yet closed: it refuses and repeats like a closed one.
    await expectTheSameAnswers(told);
    await forget(world, workflowIdOfGuard(told.loop));
    await stop();
    await expectTheSameAnswers(told);
    await expect(told.handle.describe()).rejects.toThrow('not found');
    const { client: temporal, registry } = world;
    const storeless = createClient({ temporal, registry, taskQueue }).guards;
    expect(await refusalOf(storeless.completeLoop(report(`${told.loop}_r1`, GOOD)))).toBe('not_a_first_loop');
  });
});

describe('bias tags', () => {
  it('of an ended family count for others where the policy counts globally, and only there', async () => {
    const tag = `tag-${newFamily(world, 'bias')}`;
    const tagged = { ...LOW, bias_tags: [tag] };
    for (const name of ['one', 'two']) {
      const loop = newFamily(world, name);
      await guards.completeLoop(report(loop, tagged));
      await guards.completeLoop(report(`${loop}_r1`, GOOD));
      await world.client.workflow.getHandle(workflowIdOfGuard(loop)).result();
    }
    const globally = guardsOf(world, { ...DEFAULT_POLICY, bias: { ...DEFAULT_POLICY.bias, scope: 'global' } });
    const third = await globally.completeLoop(report(newFamily(world, 'three'), tagged));
    expect(third.decision_result).toMatchObject({ finalize_reason: 'bias_echo' });
    expect(third.reflection_result.repetition_counts).toEqual({ [tag]: 3 });
    const apart = await guards.completeLoop(report(newFamily(world, 'four'), tagged));
    expect(apart.decision_result.decision).toBe('rerun');
  });
});

it('the update id is the loop and the hash of the body, so the server knows a repetition', async () => {
  const loop = newFamily(world, 'update-id');
  const body = report(loop);
  const answer = await guards.completeLoop(body);
  const handle = world.client.workflow.getHandle(workflowIdOfGuard(loop));
  expect(await handle.getUpdateHandle(`${loop}:${hashOfJson(body)}`).result()).toEqual(answer);
});
