import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterCall, beforeCall } from '../../../../src/core/failures/loop-detector.ts';
import { afterMessage } from '../../../../src/core/failures/repeated-message.ts';
import { findLoops } from '../../../../src/core/failures/find-loops.ts';
import { fingerprintOf } from '../../../../src/core/failures/fingerprint.ts';
import { liftStalls, createLoopWatch } from '../../../../src/core/failures/loop-watch.ts';
import type { LoopCall, LoopOutcome } from '../../../../src/core/failures/loop-detector.ts';
import type { LoopPolicy, LoopWatch, Stall } from '../../../../src/core/failures/loop-watch.ts';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';

const POLICY = DEFAULT_POLICY.loops;
type Step = readonly [LoopCall, LoopOutcome];

const ok = (result_hash: string): LoopOutcome => ({ ok: true, result_hash });
const failed = (message: string): LoopOutcome => ({
  ok: false,
  fingerprint: fingerprintOf({ signal_type: 'tool_error', tool_name: 't', error_code: 'E', message }),
});
const read = (path: string): LoopCall => ({ tool_name: 'read', args: { path }, effect: 'read' });

/** An agent that insists: every call is asked for, and runs if it may. The state goes through JSON each time. */
const drive = (steps: readonly Step[], policy: LoopPolicy = POLICY, start: LoopWatch = createLoopWatch()) => {
  let state = start;
  const actions: string[] = [];
  const stalls: Stall[] = [];
  for (const [call, outcome] of steps) {
    const before = beforeCall(JSON.parse(JSON.stringify(state)) as LoopWatch, call, policy);
    actions.push(before.action);
    state = before.state;
    if (before.action !== 'run') continue;
    const after = afterCall(state, call, outcome, policy);
    state = after.state;
    if (after.stall) stalls.push(after.stall);
  }
  return { state, actions, stalls, ran: actions.filter((action) => action === 'run').length };
};
const repeat = (count: number, ...steps: Step[]): Step[] => Array.from({ length: count }, () => steps).flat();

describe('the same call with the same outcome', () => {
  it('629 identical successful reads run 4 times; calls 5 and 6 are answered with guidance, call 7 escalates', () => {
    const { actions, stalls, ran } = drive(repeat(629, [read('a'), ok('x')]));
    expect(ran).toBe(4);
    expect(actions.slice(0, 8)).toEqual(['run', 'run', 'run', 'run', 'guide', 'guide', 'escalate', 'escalate']);
    expect(stalls).toMatchObject([{ rule: 'same_call_same_outcome', start: 1, end: 4, repeats: 4, tool_name: 'read' }]);
    expect(stalls[0]?.fingerprint).toMatch(/^fp1:loop_stall:read:same_call_same_outcome:/);
  });

  it('500 polls whose answers change are not stopped', () => {
    const polls = Array.from({ length: 500 }, (_, n): Step => [read('job'), ok(`answer ${n}`)]);
    expect(drive(polls)).toMatchObject({ ran: 500, stalls: [] });
  });

  it('polls whose answer goes back and forth are not stopped', () => {
    expect(drive(repeat(100, [read('job'), ok('a')], [read('job'), ok('b')]))).toMatchObject({ ran: 200, stalls: [] });
  });

  it('a poll whose probe changes makes progress, although its answer does not change', () => {
    const polls = Array.from({ length: 50 }, (_, n): Step => [
      read('job'),
      { ok: true, result_hash: 'x', probe_hash: `${n}` },
    ]);
    expect(drive(polls)).toMatchObject({ ran: 50, stalls: [] });
  });

  it('a policy with another number of repeats counts to that number', () => {
    expect(drive(repeat(20, [read('a'), ok('x')]), { ...POLICY, same_outcome: 7 }).ran).toBe(7);
  });

  it('10 different reads with the same answer are not a loop', () => {
    const steps = Array.from({ length: 10 }, (_, n): Step => [read(`file-${n}`), ok('empty')]);
    expect(drive(steps)).toMatchObject({ ran: 10, stalls: [] });
  });

  it('reading a file again after something new was learnt is not a loop', () => {
    const steps = Array.from({ length: 20 }, (_, n): Step[] => [
      [read('notes'), ok('notes')],
      [read(`file-${n}`), ok(`content ${n}`)],
    ]).flat();
    expect(drive(steps)).toMatchObject({ ran: 40, stalls: [] });
  });

  it('a reworded thought between equal calls does not hide the loop', () => {
    const steps = Array.from({ length: 20 }, (_, n): Step[] => [
      [read('notes'), ok('notes')],
      [{ tool_name: 'think', args: { thought: `variation ${n}` }, effect: 'read' }, ok('noted')],
    ]).flat();
    expect(drive(steps).stalls).toMatchObject([{ rule: 'same_call_same_outcome', tool_name: 'read' }]);
  });

  const editAndTest = (message: (n: number) => string): Step[] =>
    Array.from({ length: 20 }, (_, n): Step[] => [
      [{ tool_name: 'test', args: {}, effect: 'read' }, failed(message(n))],
      [{ tool_name: 'edit', args: { text: `try ${n}` }, effect: 'idempotent' }, ok('ok')],
    ]).flat();

  it('an edit between failing tests is progress while the error changes', () => {
    const steps = editAndTest((n) => `${'abcdefghijklmnopqrst'.charAt(n)} is not a function`);
    expect(drive(steps)).toMatchObject({ ran: 40, stalls: [] });
  });

  it('four rounds of an edit and a test with the same error are a stall; after two more rounds the test escalates', () => {
    const { actions, stalls } = drive(editAndTest(() => '1 test failed'));
    expect(stalls).toMatchObject([{ rule: 'edit_run', tool_name: 'test', start: 1, end: 7, repeats: 4 }]);
    expect(actions.slice(8, 14)).toEqual(['run', 'run', 'run', 'run', 'escalate', 'run']);
  });

  it('another call runs during a stall, and lifts the stall if it learns something', () => {
    const { state } = drive(repeat(5, [read('a'), ok('x')]));
    const still = drive(
      [
        [read('b'), ok('x')],
        [read('a'), ok('x')],
      ],
      POLICY,
      state,
    );
    expect(still.actions).toEqual(['run', 'guide']);
    const moved = drive(
      [
        [read('b'), ok('new')],
        [read('a'), ok('x')],
      ],
      POLICY,
      state,
    );
    expect(moved.actions).toEqual(['run', 'run']);
  });

  it("a person's answer lifts a stall; the same stall again has the same fingerprint", () => {
    const first = drive(repeat(7, [read('a'), ok('x')]));
    const second = drive(repeat(7, [read('a'), ok('x')]), POLICY, liftStalls(first.state));
    expect(second.ran).toBe(4);
    expect(second.stalls[0]?.fingerprint).toBe(first.stalls[0]?.fingerprint);
  });

  it('of equal calls made at once, no more run than the rule allows', () => {
    let state = createLoopWatch();
    const actions = Array.from({ length: 6 }, () => {
      const before = beforeCall(state, read('a'), POLICY);
      state = before.state;
      return before.action;
    });
    expect(actions).toEqual(['run', 'run', 'run', 'run', 'defer', 'defer']);
    const stalls = Array.from({ length: 4 }, () => {
      const after = afterCall(state, read('a'), ok('x'), POLICY);
      state = after.state;
      return after.stall?.rule;
    });
    expect(stalls).toEqual([undefined, undefined, undefined, 'same_call_same_outcome']);
    expect(beforeCall(state, read('a'), POLICY).action).toBe('guide');
    expect(state.under_way).toEqual({});
  });

  it('calls of ignored tools are never counted', () => {
    expect(drive(repeat(50, [read('a'), ok('x')]), { ...POLICY, ignore_tools: ['read'] })).toMatchObject({
      ran: 50,
      stalls: [],
    });
  });
});

describe('the same call failing', () => {
  it('error loops with volatile ids, in the call and in the error, are stopped at 3', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uuid(), fc.uuid(), fc.date({ noInvalidDate: true })), { minLength: 6, maxLength: 6 }),
        (ids) => {
          const steps = ids.map(([nonce, request, at]): Step => [
            {
              tool_name: 'post',
              args: { request_id: nonce, url: `/orders?ts=${at.getTime()}`, body: { trace: nonce } },
              effect: 'side_effect',
            },
            failed(`overloaded, request id: ${request} at ${new Date('2026-01-01').toISOString()}`),
          ]);
          const { ran, stalls, actions } = drive(steps);
          expect(ran).toBe(3);
          expect(stalls).toMatchObject([{ rule: 'same_call_failing', start: 1, end: 3, repeats: 3 }]);
          expect(actions).toEqual(['run', 'run', 'run', 'guide', 'guide', 'escalate']);
        },
      ),
    );
  });

  it('a call that keeps failing in different ways is stopped too', () => {
    const steps: Step[] = ['timeout', 'refused', 'reset'].map((message) => [read('a'), failed(message)]);
    expect(drive(steps).stalls).toMatchObject([{ rule: 'same_call_failing' }]);
  });

  it('a failure between equal answers is not progress', () => {
    const steps = repeat(10, [read('a'), ok('x')], [read('a'), failed('reset')]);
    expect(drive(steps).stalls).toHaveLength(1);
  });

  it('the same error with ever other arguments is stopped at 4; two more calls run, then the tool escalates', () => {
    const steps = Array.from({ length: 10 }, (_, n): Step => [read(`file-${n}`), failed('missing')]);
    const { actions, stalls, ran } = drive(steps);
    expect(ran).toBe(6);
    expect(stalls).toMatchObject([{ rule: 'same_error', tool_name: 'read', start: 1, end: 4, repeats: 4 }]);
    expect(actions.slice(5, 8)).toEqual(['run', 'escalate', 'escalate']);
  });

  it('failing calls with other arguments and other errors are not a loop', () => {
    const steps = Array.from({ length: 3 }, (_, n): Step => [read(`file-${n}`), failed(`reason ${'abc'.charAt(n)}`)]);
    expect(drive(steps)).toMatchObject({ ran: 3, stalls: [] });
  });
});

describe('a cycle', () => {
  const A: Step = [read('a'), ok('x')];
  const B: Step = [read('b'), ok('y')];
  const C: Step = [read('c'), ok('z')];
  const D: Step = [read('d'), ok('w')];

  it('the cycle A B A B A B is stopped after 3 rounds', () => {
    const { actions, stalls } = drive(repeat(5, A, B));
    expect(stalls).toMatchObject([{ rule: 'cycle', start: 1, end: 6, repeats: 3 }]);
    expect(actions.slice(0, 9)).toEqual([...Array.from({ length: 6 }, () => 'run'), 'guide', 'guide', 'escalate']);
  });

  it.each([
    ['two', [A, B], 6],
    ['three', [A, B, C], 9],
    ['four', [A, B, C, D], 12],
  ] as const)('of %s calls', (_name, calls, end) => {
    expect(drive(repeat(4, ...calls)).stalls).toMatchObject([{ rule: 'cycle', start: 1, end, repeats: 3 }]);
  });

  it('a cycle has the same fingerprint wherever it was entered', () => {
    expect(drive(repeat(4, B, C, A)).stalls[0]?.fingerprint).toBe(drive(repeat(4, A, B, C)).stalls[0]?.fingerprint);
  });

  it('calls whose results change are not a cycle', () => {
    const steps = Array.from({ length: 50 }, (_, n): Step[] => [[read('a'), ok(`x${n}`)], B]).flat();
    expect(drive(steps)).toMatchObject({ ran: 100, stalls: [] });
  });

  it('a cycle of five calls is found by the calls that were made before', () => {
    const five: Step[] = [A, B, C, D, [read('e'), ok('v')]];
    expect(drive(repeat(2, ...five)).stalls).toEqual([]);
    expect(drive(repeat(3, ...five)).stalls).toMatchObject([{ rule: 'long_cycle', end: 15 }]);
  });
});

describe('the same message', () => {
  it('the same message is recorded at 3, answered with guidance twice, then escalated', () => {
    let state = createLoopWatch();
    const told = Array.from({ length: 6 }, () => {
      const after = afterMessage(state, ' I am  DONE, I think. ', POLICY);
      state = after.state;
      return [after.action, after.is_new];
    });
    expect(told).toEqual([
      ['go_on', false],
      ['go_on', false],
      ['go_on', true],
      ['guide', false],
      ['guide', false],
      ['escalate', false],
    ]);
  });

  it('progress resets the count of messages, and other words are another message', () => {
    let state = createLoopWatch();
    for (const n of [1, 2, 3, 4, 5]) {
      const said = afterMessage(state, 'checking', POLICY);
      expect(said.action).toBe('go_on');
      expect(said.is_new).toBe(false);
      state = afterCall(said.state, read('job'), ok(`answer ${n}`), POLICY).state;
    }
    expect(afterMessage(state, '', POLICY)).toEqual({ state, action: 'go_on', is_new: false });
  });

  it("an agent's text is not part of the fingerprint of its stall", () => {
    const stallOf = (text: string) => {
      let state = createLoopWatch();
      let stall: Stall | undefined;
      for (let n = 0; n < 3; n += 1) ({ state, stall } = afterMessage(state, text, POLICY));
      return stall?.fingerprint;
    };
    expect(stallOf('one thing')).toBe(stallOf('another thing'));
  });
});

describe('the state of the watch', () => {
  it('the state of the watch does not grow with the loop', () => {
    const steps = Array.from({ length: 3_000 }, (_, n): Step => [
      read(`file-${n % 500}`),
      n % 3 ? ok(`r${n}`) : failed(`e${n}`),
    ]);
    const { state } = drive(steps);
    expect(JSON.stringify(state).length).toBeLessThan(32_000);
  });

  it('among random calls none runs more often than its rule allows without progress', () => {
    const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'fail'));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (parts) => {
        const steps = parts.map(([path, how]): Step => [read(path), how === 'x' ? ok(`of ${path}`) : failed('broken')]);
        const { ran } = drive(steps);
        // Three calls, each new at most once; in every stretch at most 3 equal answers and 2 failures more than a stall.
        expect(ran).toBeLessThanOrEqual(4 * 3 * (4 + 3));
      }),
    );
  });
});

describe('loops in a whole transcript', () => {
  it('each loop of a transcript is reported once, with its full length', () => {
    const transcript = [
      ...repeat(3, [read('start'), ok('s')]),
      ...repeat(629, [read('a'), ok('x')]),
      [read('new'), ok('news')] as Step,
      ...repeat(5, [read('b'), ok('y')], [read('c'), ok('z')]),
    ].map(([call, outcome]) => ({ call, outcome }));
    expect(findLoops(transcript, POLICY)).toMatchObject([
      { rule: 'same_call_same_outcome', start: 4, end: 632, repeats: 629, detected_at: 7 },
      { rule: 'cycle', start: 634, end: 643, repeats: 5, detected_at: 639 },
    ]);
  });
});
