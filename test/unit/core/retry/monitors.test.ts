import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monitorFigures } from '../../../../src/core/retry/monitors.ts';
import { evaluation, seedBatch } from './evaluations.ts';

const GROUNDING = 'validation_grounding';
const BOTH = 'validation_both';

describe("the seed's 14 evaluations", () => {
  test('14 evaluations without any retry have 85.7 % success and two failures', () => {
    const figures = monitorFigures(seedBatch([GROUNDING], [BOTH]));
    expect(figures).toMatchObject({
      evaluations: 14,
      first_attempt_success: 12 / 14,
      final_success: 12 / 14,
      recovery: 0,
      retry_1: { tried: 0, succeeded: 0, success: null, recovery: 0 },
      added_seconds: 0,
      cost_per_extra_success_micro_usd: null,
    });
    expect(figures.remaining_failures.map(({ evaluation_id, category }) => [evaluation_id, category])).toEqual([
      ['ab2b6e81', GROUNDING],
      ['8e389e4a', BOTH],
    ]);
  });

  test('in the conservative estimate one recovers at the first retry and one at the second, so success is 100 %', () => {
    const figures = monitorFigures(seedBatch([GROUNDING, 'ok'], [BOTH, BOTH, 'ok']));
    expect(figures).toMatchObject({
      first_attempt_success: 12 / 14,
      retry_1: { tried: 2, succeeded: 1, success: 0.5, recovery: 0.5 },
      retry_2: { tried: 1, succeeded: 1, success: 1, recovery: 0.5 },
      final_success: 1,
      recovered: 2,
      recovery: 1,
      remaining_failures: [],
    });
  });

  test('in the realistic estimate 13 of 14 succeed, with the time and the cost of the retries', () => {
    const figures = monitorFigures(seedBatch([GROUNDING, 'ok'], [BOTH, BOTH, BOTH]));
    expect(figures).toMatchObject({
      final_success: 13 / 14,
      recovery: 0.5,
      // 1 s + 4 s for the one, 1 + 4 + 2 + 4 for the other; three calls of 300 micro-USD.
      added_seconds: 16,
      added_cost_micro_usd: 900,
      cost_per_extra_success_micro_usd: 900,
      cost_overhead: 900 / 140_000,
      cost_overhead_of_attempts: 900 / 4_200,
      runtime_overhead_of_attempts: 16 / 56,
    });
    expect(figures.runtime_overhead).toBeCloseTo(16 / 360, 10);
    expect(figures.remaining_failures).toEqual([
      {
        evaluation_id: '8e389e4a',
        agent: 'greenbag',
        model: 'gemini-2.5-flash-lite',
        subject: 'document-2',
        category: BOTH,
        attempts: 3,
        prompt_diffs: ['diff-of-retry-1', 'diff-of-retry-2'],
        persistent_across_models: false,
      },
    ]);
  });

  test('two failures with two retries each take 22 s, 11 s each', () => {
    expect(monitorFigures(seedBatch([GROUNDING, GROUNDING, 'ok'], [BOTH, BOTH, BOTH])).added_seconds).toBe(22);
  });
});

describe('monitors', () => {
  test('a failure persists across models, or does not, or is null when no other model has tried', () => {
    const failed = (model: string) => evaluation([BOTH], { model });
    const stands = (others: ReturnType<typeof evaluation>[]) =>
      monitorFigures([failed('a')], [failed('a'), ...others]).remaining_failures[0]?.persistent_across_models;
    expect(stands([])).toBeNull();
    expect(stands([failed('b')])).toBe(true);
    expect(stands([evaluation(['ok'], { model: 'b' })])).toBe(false);
    expect(stands([evaluation(['ok'], { model: 'b', subject: 'another' })])).toBeNull();
  });

  test('without evaluations the rates are null and not zero', () => {
    expect(monitorFigures([])).toMatchObject({
      evaluations: 0,
      first_attempt_success: null,
      final_success: null,
      recovery: null,
      runtime_overhead: null,
    });
  });

  test('the figures are consistent for any batch', () => {
    const outcomes = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()).map(([failures, ok]) => {
      const failed = Array.from({ length: failures }, () => 'validation_both' as const);
      return evaluation(ok || failures === 0 ? [...failed, 'ok'] : failed);
    });
    fc.assert(
      fc.property(fc.array(outcomes, { minLength: 1, maxLength: 60 }), (batch) => {
        const figures = monitorFigures(batch);
        expect(figures.final_success ?? 0).toBeGreaterThanOrEqual(figures.first_attempt_success ?? 1);
        expect(figures.remaining_failures).toHaveLength(batch.filter(({ attempts }) => !attempts.at(-1)?.ok).length);
        expect(JSON.parse(JSON.stringify(figures))).toEqual(figures);
      }),
    );
  });
});
