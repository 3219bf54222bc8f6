/** Stalls in whole runs: calls that repeat without a new result are recorded, answered with guidance, and escalated. */
import { statusOfStep } from '../../../../src/core/run/attempts.ts';
import { describe, expect, it } from 'vitest';
import type { PlannerView } from '../../../../src/core/run/ports.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import { everyRecord, failed, liveChoosing, succeeded } from './choosing-world.ts';

const always = (input: Json, tool = 'look') => ({ calls: [{ tool, input }] });

describe('the same successful read, 629 times', () => {
  const life = () => {
    const views: PlannerView[] = [];
    const lived = liveChoosing({
      policy: { budget: { max_steps: 700, max_attempts: 700, max_model_calls: 700 } },
      plan: (view) => {
        views.push(view);
        return view.turn <= 629 ? always({ path: 'README.md' }) : { calls: [] };
      },
      call: () => succeeded({ text: 'the same as ever' }),
    });
    return lived.then((run) => ({ ...run, views }));
  };

  it('a repeated successful read runs 4 times, gets guidance twice, and then a person is asked', async () => {
    const { calls, result, state, views, logs } = await life();
    expect(calls).toBe(4);
    expect(result).toMatchObject({ outcome: 'finalized', reason: 'question_timed_out' });
    expect(state.loop.steps.map(statusOfStep)).toEqual(['ok', 'ok', 'ok', 'ok', 'guided', 'guided', 'guided']);
    expect(views).toHaveLength(7);
    expect(logs.filter(({ event }) => event === 'question_asked')).toHaveLength(1);
  });

  it('a repeated read makes one record of high severity that says what to do instead', async () => {
    const lived = await life();
    const [record, ...others] = everyRecord(lived);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      signal_type: 'loop_stall',
      severity: 'high',
      step_id: 4,
      observed_outcome: { kind: 'repeated_call', error_code: 'same_call_same_outcome' },
      recommended_adjustment: { type: 'use_other_tool', tool_name: 'look' },
    });
  });

  it('a repeated read shows the planner guidance instead of an output, and again in its next turn', async () => {
    const { views } = await life();
    const sixth = views[5];
    const advice =
      'If look is to be called again although its answer did not change, then use another tool or another way.';
    expect(sixth?.guidance.text).toBe(advice);
    expect(sixth?.steps.at(-1)).toMatchObject({ status: 'guided', message_preview: advice });
  });
});

describe('calls that are not a loop', () => {
  it('a poll whose answer changes 500 times is not a loop', async () => {
    let polls = 0;
    const lived = await liveChoosing({
      policy: { budget: { max_steps: 600, max_attempts: 600, max_model_calls: 600, soft: 1, near: 1 } },
      plan: ({ turn }) => (turn <= 500 ? always({ job: 7 }) : { calls: [] }),
      call: () => succeeded({ done: (polls += 1) }),
    });
    expect(lived.calls).toBe(500);
    expect(lived.result.outcome).toBe('completed');
    expect(everyRecord(lived)).toEqual([]);
  });

  it('a poll with the same answer and a changing probe is not a loop', async () => {
    let polls = 0;
    const { calls } = await liveChoosing({
      plan: ({ turn }) => (turn <= 20 ? always({ job: 7 }) : { calls: [] }),
      call: () => succeeded('still at it', { probe_hash: `seen ${(polls += 1)}` }),
    });
    expect(calls).toBe(20);
  });

  it('a given plan with ten equal steps is not a loop', async () => {
    const lived = await liveChoosing({
      steps: Array.from({ length: 10 }, () => ({ tool: 'look', input: { path: 'README.md' } })),
      call: () => succeeded('the same'),
    });
    expect(lived.calls).toBe(10);
    expect(lived.result.outcome).toBe('completed');
  });

  it('calls of a tool that the policy exempts are not a loop', async () => {
    const { calls } = await liveChoosing({
      policy: { loops: { ignore_tools: ['look'] } },
      plan: ({ turn }) => (turn <= 12 ? always({ tick: true }) : { calls: [] }),
      call: () => succeeded('tock'),
    });
    expect(calls).toBe(12);
  });
});

describe('an error loop', () => {
  it('an error loop is detected at its third call, even if ids and times in its messages differ', async () => {
    let nth = 0;
    const lived = await liveChoosing({
      plan: () => always({ order: 7, request_id: `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}` }),
      call: () => {
        nth += 1;
        return failed('HTTP_422', `request 3f2a91bc77d0${nth} at 2031-01-0${nth}T10:00:00Z refused`);
      },
    });
    expect(lived.calls).toBe(3);
    expect(lived.result.reason).toBe('question_timed_out');
    expect(new Set(everyRecord(lived).map(({ fingerprint }) => fingerprint)).size).toBe(2);
    expect(everyRecord(lived).filter(({ signal_type }) => signal_type === 'loop_stall')).toHaveLength(1);
  });

  it('the retries of a step count as one call of an error loop', async () => {
    const { calls, state } = await liveChoosing({
      policy: { retry: { server_error: 1 }, failures: { escalate_at: 50 } },
      plan: ({ turn }) => (turn <= 2 ? always({ a: 1 }) : { calls: [] }),
      call: () => failed('HTTP_503', 'away', { category: 'server_error' }),
    });
    expect(calls).toBeGreaterThanOrEqual(4);
    expect(state.loop.watch.stalls).toEqual([]);
  });
});

describe('a person who is asked about a stuck run', () => {
  const answering = (decision: string) => ({
    react: (
      shown: { question: { question_id: string } | null },
      send: (ms: number, type: 'answer', body: unknown) => void,
    ) => {
      if (shown.question !== null)
        send(1_000, 'answer', { question_id: shown.question.question_id, decision, by: 'ada' });
    },
  });

  it('a person may let a stalled call run, and the same stall again ends the run', async () => {
    const { calls, result } = await liveChoosing({
      plan: () => always({ path: 'a' }),
      call: () => succeeded('same'),
      more: answering('retry'),
    });
    expect(result).toMatchObject({ outcome: 'system_error', reason: 'LOOP_STALL' });
    expect(calls).toBe(8);
  });

  it('a person may skip a stalled call, and the same call again ends the run', async () => {
    const { calls, result } = await liveChoosing({
      plan: () => always({ path: 'a' }),
      call: () => succeeded('same'),
      more: answering('skip'),
    });
    expect(result).toMatchObject({ outcome: 'system_error', reason: 'LOOP_STALL' });
    expect(calls).toBe(4);
  });
});

describe('the mode of the guards', () => {
  const stuck = (mode: 'observe' | 'guide') =>
    liveChoosing({
      policy: { mode },
      plan: ({ turn }) => (turn <= 9 ? always({ path: 'a' }) : { calls: [] }),
      call: () => succeeded('same'),
    });

  it.each(['observe', 'guide'] as const)('the mode %s records a stall and does not stop the run', async (mode) => {
    const lived = await stuck(mode);
    expect(lived.calls).toBe(9);
    expect(lived.result.outcome).toBe('completed');
    expect(everyRecord(lived)).toHaveLength(1);
  });

  it('a stalled run is shown guidance in guide mode and none in observe mode', async () => {
    const shown: Record<string, number> = { guide: 0, observe: 0 };
    for (const mode of ['guide', 'observe'] as const) {
      await liveChoosing({
        policy: { mode },
        plan: (view) => {
          shown[mode] = (shown[mode] ?? 0) + view.guidance.rows.length;
          return view.turn <= 2 ? always({ a: view.turn }) : { calls: [] };
        },
        call: () => failed('HTTP_422', 'no'),
      });
    }
    expect(shown['observe']).toBe(0);
    expect(shown['guide']).toBeGreaterThan(0);
  });
});
