/** Needs Postgres. Shows the monitors of retries, and the switch that turns enhancement off by itself. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { monitorFigures } from '../../src/core/retry/monitors.ts';
import type { Evaluation } from '../../src/core/retry/monitors.ts';
import type { NewEvaluation } from '../../src/store/evaluation-rows.ts';
import { computeRates, readMonitors } from '../../src/store/monitor-figures.ts';
import { attemptsOf } from '../unit/core/retry/evaluations.ts';
import { openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

type Outcome = 'ok' | 'validation_grounding' | 'rate_limit';
let steps = 0;

const evaluation = (outcomes: readonly Outcome[], over: Partial<NewEvaluation> = {}): NewEvaluation => ({
  run_id: 'monitored',
  step_id: (steps += 1),
  agent: 'clerk',
  model: 'm1',
  subject: 'document',
  attempts: attemptsOf(outcomes),
  created_at: timeAt(0),
  ...over,
});
const many = (count: number, outcomes: readonly Outcome[], over: Partial<NewEvaluation> = {}): NewEvaluation[] =>
  Array.from({ length: count }, () => evaluation(outcomes, over));

/** Runs without enhancement that succeed, so that others can be compared with them. */
const baseline = (agent: string, over: Partial<NewEvaluation> = {}) =>
  many(5, ['ok'], { agent, arm: 'baseline', ...over });

/** As the rules of core see it. */
const asCore = ({ run_id, step_id, created_at: _at, ...one }: NewEvaluation): Evaluation => ({
  other_ms: 0,
  other_cost_micro_usd: 0,
  ...one,
  evaluation_id: `${run_id}:s${step_id}`,
  model: one.model ?? 'none',
});

describe('evaluations', () => {
  it('evaluations count each step once; the first one stands', async () => {
    const { retryMonitors } = test.store;
    const one = evaluation(['ok'], { agent: 'once' });
    expect(await retryMonitors.append([one, evaluation(['ok'], { agent: 'once' })])).toEqual({ written: 2 });
    expect(await retryMonitors.append([{ ...one, attempts: attemptsOf(['rate_limit', 'ok']) }])).toEqual({
      written: 0,
    });
    const recent = await retryMonitors.recent({ agent: 'once' });
    expect(recent.map(({ attempts, final_ok }) => [attempts, final_ok])).toEqual([
      [1, true],
      [1, true],
    ]);
  });

  it('evaluations come back as the rules of core take them, the last ones, oldest first', async () => {
    const all = [
      evaluation(['validation_grounding', 'ok'], { agent: 'back', created_at: timeAt(0) }),
      evaluation(['ok'], {
        agent: 'back',
        model: null,
        other_ms: 500,
        other_cost_micro_usd: 20,
        created_at: timeAt(5),
      }),
      evaluation(['rate_limit', 'rate_limit'], { agent: 'back', created_at: timeAt(9) }),
    ];
    await test.store.retryMonitors.append(all);
    expect(await test.store.retryMonitors.evaluationsOf('back', null)).toEqual(all.map(asCore));
    expect(await test.store.retryMonitors.evaluationsOf('back', timeAt(5))).toEqual(all.slice(1).map(asCore));
    expect(await test.store.retryMonitors.evaluationsOf('back', null, 1)).toEqual(all.slice(2).map(asCore));
  });

  it('evaluations are refused by the path of what is wrong', async () => {
    const empty = evaluation([], { agent: 'wrong' });
    await expect(test.store.retryMonitors.append([empty])).rejects.toThrow(/^attempts: /);
  });

  it(
    'evaluations give the same figures by counting in the database as by the pure function',
    { timeout: 60_000 },
    async () => {
      let worlds = 0;
      const outcomes = fc.constantFrom<Outcome[]>(
        ['ok'],
        ['validation_grounding', 'ok'],
        ['validation_grounding', 'validation_grounding', 'ok'],
        ['rate_limit', 'rate_limit', 'rate_limit'],
        ['rate_limit'],
      );
      const one = fc.record({
        outcomes,
        other: fc.integer({ min: 0, max: 9_000 }),
        model: fc.constantFrom('m1', 'm2'),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 15 }), async (drawn) => {
          worlds += 1;
          const agent = `figures-${worlds}`;
          const all = drawn.map(({ outcomes: found, other, model }, index) =>
            evaluation(found, {
              agent,
              model,
              subject: `${agent}-${index % 3}`,
              other_ms: other,
              other_cost_micro_usd: other,
            }),
          );
          await test.store.retryMonitors.append(all);
          const filter = { agent, since: timeAt(-1) };
          for (const totals of await test.store.retryMonitors.overall(filter)) {
            const mine = all.filter((item) => item.model === totals.model).map(asCore);
            const { remaining_failures: remaining, ...rates } = monitorFigures(mine, all.map(asCore));
            expect(computeRates(totals)).toEqual(rates);
            const left = await test.store.retryMonitors.remainingFailures({ ...filter, model: totals.model ?? '' });
            expect(left.toReversed()).toEqual(remaining);
          }
        }),
        { numRuns: 30 },
      );
    },
  );
});

describe('the monitors', () => {
  it('the monitors tell rates per agent, model and day, what remained, and where the switches stand', async () => {
    const agent = 'told';
    await test.store.retryMonitors.append([
      evaluation(['ok'], { agent }),
      evaluation(['rate_limit', 'ok'], { agent }),
      evaluation(['rate_limit', 'rate_limit', 'ok'], { agent }),
      evaluation(['validation_grounding', 'validation_grounding'], { agent, subject: 'hard one' }),
      evaluation(['ok'], { agent, model: 'm2', subject: 'hard one' }),
      evaluation(['ok'], { agent, created_at: timeAt(86_400_000) }),
    ]);
    const monitors = await readMonitors(test.store, { agent, since: timeAt(-1) });
    expect(monitors.by_day.map(({ day, model, evaluations }) => [day, model, evaluations])).toEqual([
      ['2026-03-02', 'm1', 1],
      ['2026-03-01', 'm1', 4],
      ['2026-03-01', 'm2', 1],
    ]);
    expect(monitors.by_day[1]).toMatchObject({
      first_attempt_success: 0.25,
      retry_1: { tried: 3, succeeded: 1, success: 1 / 3, recovery: 1 / 3 },
      retry_2: { tried: 1, succeeded: 1, success: 1, recovery: 1 / 3 },
      final_success: 0.75,
      recovery: 2 / 3,
    });
    expect(monitors.overall.map(({ model, evaluations }) => [model, evaluations])).toEqual([
      ['m1', 5],
      ['m2', 1],
    ]);
    expect(monitors.remaining_failures).toMatchObject([
      {
        subject: 'hard one',
        category: 'validation_grounding',
        attempts: 2,
        prompt_diffs: ['diff-of-retry-1'],
        persistent_across_models: false,
      },
    ]);
    expect(monitors.switches).toEqual([]);
  });
});

describe('the switch of an agent', () => {
  it('the switch of an agent is on until the rule turns it off, says why, and is turned on again only by a person', async () => {
    const { retryMonitors, enhancement } = test.store;
    const agent = 'switched';
    expect(await enhancement.currentSwitch(agent)).toEqual({ enhancement: 'on', since: null, by: null, note: null });
    await retryMonitors.append([...baseline(agent), ...many(19, ['rate_limit'], { agent })]);
    expect(await enhancement.currentSwitch(agent)).toMatchObject({ enhancement: 'on' });
    await retryMonitors.append(many(1, ['ok'], { agent }));
    expect(await enhancement.currentSwitch(agent)).toMatchObject({
      enhancement: 'off',
      reason: 'success_below_baseline',
      sentence: expect.stringContaining('over the last 20 evaluations success was 5 %'),
      judgement: { evaluations: 20, success: 0.05, baseline: 1, baseline_evaluations: 5 },
    });
    await retryMonitors.append(many(60, ['ok'], { agent }));
    expect(await enhancement.currentSwitch(agent)).toMatchObject({ enhancement: 'off' });

    const on = (by: string) => enhancement.switchTo(agent, { enhancement: 'on', by, note: 'the model was changed' });
    await expect(on(' ')).rejects.toThrow(/^by: /);
    expect(await on('ada')).toMatchObject({ switched: true, current: { by: 'ada', note: 'the model was changed' } });
    expect(await on('bob')).toMatchObject({ switched: false, current: { by: 'ada' } });
    const entries = await enhancement.historyOf(agent);
    expect(entries.map(({ enhancement: to, by }) => [to, by])).toEqual([
      ['off', 'rollback rule'],
      ['on', 'ada'],
    ]);
    expect(await enhancement.all({ agent })).toMatchObject([{ agent, enhancement: 'on', by: 'ada' }]);
  });

  it('the switch of an agent is turned off by a person too, stays off whatever is measured, and says whose word it was', async () => {
    const { retryMonitors, enhancement } = test.store;
    const agent = 'disliked';
    const off = await enhancement.switchTo(agent, { enhancement: 'off', by: 'ada', note: 'too wordy' });
    expect(off).toMatchObject({
      switched: true,
      current: { enhancement: 'off', by: 'ada', note: 'too wordy', reason: 'by_person', judgement: null },
    });
    await retryMonitors.append(many(30, ['ok'], { agent }));
    expect(await enhancement.currentSwitch(agent)).toMatchObject({
      sentence: 'Enhancement is off: ada switched it off (too wordy). An operator can switch it on again.',
    });
    await enhancement.switchTo(agent, { enhancement: 'on', by: 'bob' });
    expect((await enhancement.historyOf(agent)).map(({ by, note }) => [by, note])).toEqual([
      ['ada', 'too wordy'],
      ['bob', null],
    ]);
  });

  it('the switch of an agent is judged only by what was measured since it was last turned on', async () => {
    const { retryMonitors, enhancement } = test.store;
    const agent = 'fresh';
    await retryMonitors.append([...baseline(agent), ...many(20, ['rate_limit'], { agent })]);
    await enhancement.switchTo(agent, { enhancement: 'on', by: 'ada' });
    const later = new Date(Date.now() + 60_000).toISOString();
    const heldOut = baseline(agent, { created_at: later });
    await retryMonitors.append([...heldOut, ...many(19, ['rate_limit'], { agent, created_at: later })]);
    expect(await enhancement.currentSwitch(agent)).toMatchObject({ enhancement: 'on' });
    await retryMonitors.append(many(1, ['rate_limit'], { agent, created_at: later }));
    expect(await enhancement.currentSwitch(agent)).toMatchObject({ enhancement: 'off' });
  });

  it('the switch of an agent is turned off once, and surely, when many writers bring the evaluations at once', async () => {
    const agent = 'raced';
    const all = many(40, ['validation_grounding'], { agent });
    await test.store.retryMonitors.append(baseline(agent));
    await Promise.all(all.map((one) => test.store.retryMonitors.append([one])));
    const entries = await test.store.enhancement.historyOf(agent);
    expect(entries.map((entry) => entry.enhancement)).toEqual(['off']);
  });

  it('the switch of one agent is not the switch of another', async () => {
    const failing = many(20, ['rate_limit'], { agent: 'one of two' });
    await test.store.retryMonitors.append([...baseline('one of two'), ...failing]);
    expect(await test.store.enhancement.currentSwitch('two of two')).toMatchObject({ enhancement: 'on' });
  });
});
