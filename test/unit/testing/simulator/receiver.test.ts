/**
 * The receiver of the hostile worlds: which effects it counts as repeated. A person's `not_done` permits exactly one more
 * effect, and what a run has learned is not unknown any more.
 */
import { expect, it } from 'vitest';
import type { ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { openReceiver, type Receiver } from '../../../../src/testing/simulator/hostile/receiver.ts';
import { runScene } from '../../../../src/testing/simulator/hostile/run-scene.ts';
import { drawScene } from '../../../../src/testing/simulator/hostile/scene.ts';

/** A payment with this number in its key. Frozen attempts wake up before a request with an even fence arrives. */
const pay = (nth: number, fence: number, runId = 'run-1'): ToolCallRequest => ({
  run_id: runId,
  agent: 'agent',
  loop_id: 'loop',
  step_id: nth,
  attempt: 1,
  phase: 'act',
  tool: 'pay',
  input: { euros: 5 },
  guidance: { rows: [], text: '' },
  constraints: {},
  idempotency_key: `key:${nth}`,
  fence,
  timeout_ms: 1_000,
  time_left_ms: 1_000,
  waited_ms: 0,
});
const counted = ({ effects, effects_twice }: Receiver) => ({ effects, effects_twice });

it('counts a second effect under one key', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'now', false);
  receiver.receive(pay(1, 2), 'now', true);
  expect(counted(receiver)).toEqual({ effects: 2, effects_twice: 1 });
});

it('permits one more effect for each not_done of a person', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'now', false);
  receiver.denyByPerson('key:1');
  receiver.receive(pay(1, 2), 'now', false);
  expect(counted(receiver)).toEqual({ effects: 2, effects_twice: 0 });
  receiver.receive(pay(1, 3), 'now', true);
  expect(counted(receiver)).toEqual({ effects: 3, effects_twice: 1 });
});

it('counts an identical call that ran while the first was open, but not after the run knew', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'now', false);
  receiver.receive(pay(2, 2), 'now', true);
  expect(receiver.effects_twice).toBe(1);
  receiver.close('key:1');
  receiver.receive(pay(3, 3), 'now', true);
  expect(receiver.effects_twice).toBe(1);
});

it('counts an identical call that overtook a frozen attempt, when the frozen attempt acts', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'later', false);
  receiver.receive(pay(2, 2), 'now', true);
  expect(counted(receiver)).toEqual({ effects: 1, effects_twice: 0 });
  receiver.wakeAll();
  expect(counted(receiver)).toEqual({ effects: 2, effects_twice: 1 });
});

it('counts nothing for an identical call of a run that could not know of the first', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'now', false);
  receiver.receive(pay(2, 2, 'run-1.s2.a1'), 'now', true);
  expect(receiver.effects_twice).toBe(0);
  receiver.startSubRun('run-1.s3.a1', ['key:1']);
  receiver.receive(pay(3, 3, 'run-1.s3.a1'), 'now', true);
  expect(receiver.effects_twice).toBe(1);
});

it('a frozen attempt that acts after not_done leaves nothing open once the next attempt has succeeded', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'later', false);
  receiver.denyByPerson('key:1');
  receiver.receive(pay(1, 2), 'now', true);
  receiver.receive(pay(2, 3), 'now', true);
  expect(counted(receiver)).toEqual({ effects: 3, effects_twice: 0 });
});

it('a frozen attempt that a person calls done may act later, and a new call may run before it', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'later', false);
  receiver.close('key:1');
  receiver.receive(pay(2, 2), 'now', false);
  receiver.wakeAll();
  expect(counted(receiver)).toEqual({ effects: 2, effects_twice: 0 });
});

it('an attempt that did nothing does not open again what a person has settled', () => {
  const receiver = openReceiver();
  receiver.receive(pay(1, 1), 'now', false);
  receiver.denyByPerson('key:1');
  receiver.receive(pay(1, 2), 'never', false);
  receiver.receive(pay(1, 3), 'now', true);
  receiver.receive(pay(2, 4), 'now', true);
  expect(counted(receiver)).toEqual({ effects: 3, effects_twice: 0 });
});

it('the scenes in which permitted effects were once counted as repeated have no effect twice', async () => {
  const lived = await Promise.all([5_628, 12_067, 37_797, 50_297, 70_684].map((seed) => runScene(drawScene(seed))));
  expect(lived.map(({ effects_twice }) => effects_twice)).toEqual([0, 0, 0, 0, 0]);
  expect(lived.reduce((sum, { effects }) => sum + effects, 0)).toBeGreaterThan(5);
});
