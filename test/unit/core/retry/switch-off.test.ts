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
const batch = (lostCount: number, goodCount: number) => [...times(lostCount, lost), ...times(goodCount, good)];
const reasonFor = (evaluations: Evaluation[]) => judgeEnhancement(evaluations)?.reason;

describe('success below the baseline', () => {
  test.each<[string, Evaluation[], string | null | undefined]>([
    ['fewer than 20 evaluations are not judged', batch(19, 0), undefined],
    ['enhancement stays on when 3 of 20 fail, which is exactly 0.85', batch(3, 17), null],
    ['enhancement is switched off when 4 of 20 fail', batch(4, 16), 'success_below_baseline'],
    ['only the last 50 evaluations count', batch(10, 50), null],
    [
      'enhancement is switched off when 8 of the last 50 fail',
      [...times(19, good), ...batch(8, 42)],
      'success_below_baseline',
    ],
  ])('%s', (_what, evaluations, reason) => {
    expect(reasonFor(evaluations)).toBe(reason);
  });

  test('an agent with a history is measured against its own first-attempt rate, whether it is above or below the default', () => {
    const weakBefore = [...times(10, lost), ...times(10, good)];
    expect(judgeEnhancement([...weakBefore, ...batch(10, 40)])).toMatchObject({ baseline: 0.5, reason: null });
    const strongBefore = times(20, good);
    expect(judgeEnhancement([...strongBefore, ...batch(1, 49)])).toMatchObject({
      baseline: 1,
      reason: 'success_below_baseline',
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
    expect(reasonFor(times(20, one))).toBe(reason);
  });

  test('enhancement stays on for the documented example batch', () => {
    const seed = seedBatch(['validation_grounding', 'ok'], ['validation_both', 'validation_both', 'validation_both']);
    expect(reasonFor([...seed, ...seed])).toBeNull();
    expect(monitorFigures(seed).runtime_overhead).toBeLessThan(0.15);
  });
});

describe('the switch', () => {
  const off = nextSwitch(ENHANCEMENT_ON, batch(10, 10), AT);

  test('enhancement is switched off with a reason that a person understands', () => {
    expect(off).toMatchObject({ enhancement: 'off', since: AT, reason: 'success_below_baseline' });
    expect(off).toHaveProperty(
      'sentence',
      'Enhancement is off: over the last 20 evaluations success was 50 %, below the baseline of 85 %. ' +
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
