import { describe, expect, test } from 'vitest';
import {
  ENHANCEMENT_ON,
  judgeEnhancement,
  nextSwitch,
  describeManualSwitch,
} from '../../../../src/core/retry/switch-off.ts';
import { monitorFigures } from '../../../../src/core/retry/monitors.ts';
import type { Evaluation } from '../../../../src/core/retry/monitors.ts';
import { attemptsOf, evaluation, seedBatch } from './evaluations.ts';

const AT = '2026-03-01T00:00:00.000Z';
const times = (count: number, one: Evaluation): Evaluation[] => Array.from({ length: count }, () => one);
const good = evaluation(['ok']);
const lost = evaluation(['validation_both', 'validation_both', 'validation_both']);
const recovered = evaluation(['validation_both', 'ok']);
const baseline = (lostCount: number, goodCount: number): Evaluation[] =>
  [...times(lostCount, lost), ...times(goodCount, good)].map((one) => ({ ...one, arm: 'baseline' }));
const batch = (lostCount: number, goodCount: number) => [...times(lostCount, lost), ...times(goodCount, good)];
const reasonFor = (evaluations: Evaluation[]) => judgeEnhancement(evaluations)?.reason;

describe('success below the baseline', () => {
  test.each<[string, Evaluation[], string | null | undefined]>([
    ['fewer than 20 evaluations are not judged', [...baseline(0, 10), ...batch(19, 0)], undefined],
    [
      'enhancement is off when it is clearly below 0.85 and below the baseline',
      [...baseline(1, 9), ...batch(10, 10)],
      'success_below_baseline',
    ],
    ['enhancement stays on when the baseline is as bad', [...baseline(30, 20), ...batch(30, 20)], null],
    ['enhancement stays on above 0.85, although the baseline is better', [...baseline(0, 100), ...batch(1, 49)], null],
    ['one or two failures more than expected are chance', [...baseline(0, 5), ...batch(8, 42)], null],
    ['with a large baseline they are not', [...baseline(2, 98), ...batch(9, 41)], 'success_below_baseline'],
    ['only the last 50 evaluations count', [...baseline(0, 10), ...batch(40, 50)], null],
    ['without a baseline nothing is compared', batch(50, 0).map((one) => ({ ...one, other_ms: 1e9 })), null],
  ])('%s', (_what, evaluations, reason) => {
    expect(reasonFor(evaluations)).toBe(reason);
  });

  test('evaluations of runs whose policy has enhancement off count for neither side', () => {
    const off = batch(50, 0).map((one) => ({ ...one, arm: 'off' as const }));
    expect(judgeEnhancement(off)).toBeNull();
    expect(judgeEnhancement([...off, ...batch(0, 20)])).toMatchObject({
      success: 1,
      baseline: null,
      baseline_evaluations: 0,
    });
  });
});

describe('runtime and cost', () => {
  /** One call of 100 s and 1,000 micro-USD, and one retry that takes as much as is given. */
  const retried = (added_ms: number, cost: number, firstCost = 1_000): Evaluation => {
    const attempts = attemptsOf(['validation_both', 'ok']).map((attempt, index) => ({
      ...attempt,
      wait_ms: 0,
      duration_ms: index === 0 ? 100_000 : added_ms,
      cost_micro_usd: index === 0 ? firstCost : cost,
    }));
    return { ...recovered, attempts, other_ms: 0, other_cost_micro_usd: 0 };
  };
  /** Five evaluations of held-out runs: one call each. */
  const held = (firstCost: number): Evaluation[] => {
    const [attempt] = retried(0, 0, firstCost).attempts;
    return times(5, {
      ...good,
      attempts: attempt === undefined ? [] : [{ ...attempt, ok: true, category: null }],
      other_ms: 0,
      other_cost_micro_usd: 0,
      arm: 'baseline',
    });
  };
  test.each<[string, Evaluation, string | null]>([
    ['enhancement stays on when retries add 25 % of runtime', retried(25_000, 0), null],
    [
      'enhancement is switched off when retries add more than 25 % of runtime',
      retried(25_001, 0),
      'runtime_overhead_exceeded',
    ],
    ['enhancement stays on at 10 times the cost', retried(0, 9_000), null],
    ['enhancement is switched off at more than 10 times the cost', retried(0, 9_001), 'cost_factor_exceeded'],
    ['cost without prices is not judged', retried(0, 500, 0), null],
  ])('%s', (_what, one, reason) => {
    expect(reasonFor([...held(one.attempts[0]?.cost_micro_usd ?? 0), ...times(20, one)])).toBe(reason);
  });

  test('an agent that only evaluates is not judged by its own calls, which made retries look expensive', () => {
    const evaluator = { ...recovered, other_ms: 0, other_cost_micro_usd: 0 };
    expect(judgeEnhancement(times(50, evaluator))).toMatchObject({ success: 1, runtime_overhead: null, reason: null });
    const plain = { ...lost, other_ms: 0, other_cost_micro_usd: 0, arm: 'baseline' as const };
    expect(reasonFor([...times(5, plain), ...times(50, evaluator)])).toBeNull();
  });

  test('enhancement stays on for the documented example batch', () => {
    const seed = seedBatch(['validation_grounding', 'ok'], ['validation_both', 'validation_both', 'validation_both']);
    expect(reasonFor([...seed, ...seed])).toBeNull();
    expect(monitorFigures(seed).runtime_overhead).toBeLessThan(0.15);
  });
});

describe('the switch', () => {
  const off = nextSwitch(ENHANCEMENT_ON, [...baseline(1, 9), ...batch(10, 10)], AT);

  test('enhancement is switched off with a reason that a person understands', () => {
    expect(off).toMatchObject({ enhancement: 'off', since: AT, reason: 'success_below_baseline' });
    expect(off).toHaveProperty(
      'sentence',
      'Enhancement is off: over the last 20 evaluations success was 50 %, below 85 % and below the 90 % of 10 evaluations without it. ' +
        'An operator can switch it on again.',
    );
  });
  test('the switch stays unchanged while the figures are good or too few', () => {
    expect(nextSwitch(ENHANCEMENT_ON, batch(0, 50), AT)).toBe(ENHANCEMENT_ON);
    expect(nextSwitch(ENHANCEMENT_ON, [], AT)).toBe(ENHANCEMENT_ON);
  });
  test('enhancement is never switched on automatically, however good the figures become', () => {
    expect(nextSwitch(off, batch(0, 50), AT)).toBe(off);
  });
  test('a manual switch names the person, and the reason if there is one', () => {
    expect(describeManualSwitch('ada', null)).toContain('ada switched it off. An operator');
    expect(describeManualSwitch('ada', 'too wordy')).toContain('ada switched it off (too wordy). An operator');
  });
  test('the switch is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(off))).toEqual(off);
  });
});
