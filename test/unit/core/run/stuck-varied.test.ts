/** Stalls of calls that differ, in whole runs: a hint to the planner first, then a failure with guidance, then a person. */
import { describe, expect, it } from 'vitest';
import type { PlannerView } from '../../../../src/core/run/ports.ts';
import { everyRecord, failed, liveChoosing, succeeded } from './choosing-world.ts';

const search = (turn: number) => ({ calls: [{ tool: 'look', input: { name: `drawer ${turn}` } }] });

describe('searches that are ever other ones and find nothing', () => {
  const life = async (mode: 'enforce' | 'observe' = 'enforce') => {
    const views: PlannerView[] = [];
    const lived = await liveChoosing({
      policy: { mode, budget: { max_steps: 30, max_attempts: 60, max_model_calls: 60, soft: 1, near: 1 } },
      plan: (view) => {
        views.push(view);
        return view.turn <= 20 ? search(view.turn) : { calls: [] };
      },
      call: () => succeeded('No match'),
    });
    return { ...lived, views };
  };

  it('the planner gets a hint after the fifth, and a failure with guidance after the seventh', async () => {
    const { views, logs } = await life();
    const advice =
      'If look is to search on although the last searches found nothing new, then use another tool or another way.';
    expect(views[4]?.guidance.text).toBe('');
    expect(views[5]?.guidance).toMatchObject({ text: advice, rows: [{ fingerprint: 'suspect:fruitless' }] });
    expect(views[7]?.guidance.rows[0]?.fingerprint).toMatch(/^fp1:loop_stall:look:fruitless:/);
    expect(logs.find(({ event }) => event === 'stall_suspected')).toMatchObject({
      level: 'suspect',
      rule: 'fruitless',
    });
    expect(logs.find(({ event }) => event === 'stall_detected')).toMatchObject({ level: 'stuck', rule: 'fruitless' });
  });

  it('two more searches run, then a person is asked instead of the next one', async () => {
    const lived = await life();
    expect(lived.calls).toBe(9);
    expect(lived.result).toMatchObject({ outcome: 'finalized', reason: 'question_timed_out' });
    expect(everyRecord(lived)).toMatchObject([
      { signal_type: 'loop_stall', observed_outcome: { error_code: 'fruitless' } },
    ]);
  });

  it('in observe mode every search runs and no hint is shown', async () => {
    const { calls, views } = await life('observe');
    expect(calls).toBe(20);
    expect(views.every(({ guidance }) => guidance.text === '')).toBe(true);
  });
});

describe('a find among fruitless searches', () => {
  it('a search that finds something ends the suspicion', async () => {
    let nth = 0;
    const { calls, result } = await liveChoosing({
      policy: { budget: { max_steps: 40, max_attempts: 80, max_model_calls: 80, soft: 1, near: 1 } },
      plan: ({ turn }) => (turn <= 20 ? search(turn) : { calls: [] }),
      call: () => {
        nth += 1;
        return nth % 3 === 0 ? succeeded(`drawer ${nth} holds letter ${nth}`) : succeeded('No match');
      },
    });
    expect(calls).toBe(20);
    expect(result.outcome).toBe('completed');
  });

  it('the same error with other inputs leads to a person after two more calls', async () => {
    const { calls, logs } = await liveChoosing({
      policy: { failures: { escalate_at: 50 } },
      plan: ({ turn }) => search(turn),
      call: () => failed('HTTP_422', 'the drawer is locked'),
    });
    expect(calls).toBe(6);
    expect(logs.find(({ event }) => event === 'stall_detected')).toMatchObject({ rule: 'same_error', repeats: 4 });
  });
});
