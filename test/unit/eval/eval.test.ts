/** `npm run eval`: the retries of the story against a scripted provider, and the seed's own batch against its figures. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runArm } from '../../../eval/arms.ts';
import { answer, drawConditions } from '../../../eval/provider.ts';
import { BARS, runEval } from '../../../eval/run-eval.ts';
import { seedCase } from '../../../eval/seed-case.ts';
import { enhancePrompt } from '../../../src/core/retry/enhancement.ts';
import { program } from '../../support/programs.ts';

const QUICK = 140;

describe('the evaluation', { timeout: 60_000 }, () => {
  it('the evaluation meets every bar, with any seed', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const { ok, missed, figures } = await runEval(QUICK, seed);
      expect({ seed, ok, missed }).toEqual({ seed, ok: true, missed: [] });
      for (const { figure } of BARS) expect(figures[figure]).toBeTypeOf('number');
    }
  });

  it('the evaluation gives the same result for the same seed', async () => {
    expect(await runEval(QUICK, 7)).toEqual(await runEval(QUICK, 7));
  });

  it('the evaluation runs the same failures in all three arms', async () => {
    const { arms } = await runEval(QUICK, 4);
    const { no_retry, plain_retry, ours } = arms;
    for (const arm of [no_retry, plain_retry, ours]) expect(arm.first_attempt_success).toBe(120 / 140);
    expect(no_retry).toMatchObject({ recovered: 0, added_seconds: 0, final_success: 120 / 140 });
    expect(plain_retry.retry_1.tried).toBe(20);
    expect(ours.retry_1.tried).toBe(20);
    expect(ours.recovered).toBeGreaterThan(plain_retry.recovered);
    // One failure in five never mends, and takes both retries in either arm.
    expect(ours.remaining_failures.length).toBeGreaterThanOrEqual(4);
    for (const failure of ours.remaining_failures) expect(failure.attempts).toBe(3);
    expect(ours.remaining_failures.every(({ prompt_diffs }) => prompt_diffs.length === 2)).toBe(true);
    expect(plain_retry.remaining_failures.every(({ prompt_diffs }) => prompt_diffs.length === 0)).toBe(true);
  });

  it('the evaluation counts the same added time by the clock of the runs and by their evaluations', async () => {
    const { arms } = await runEval(QUICK, 4);
    expect(arms.no_retry.batch_ms).toBeGreaterThanOrEqual(QUICK * 25_700);
    expect(arms.no_retry.batch_ms).toBeLessThan(QUICK * 25_710);
    expect(arms.ours.batch_ms - arms.no_retry.batch_ms).toBe(arms.ours.added_seconds * 1_000);
  });
});

describe('the scripted provider', () => {
  it('the scripted provider succeeds with 0.7 when it is told what it missed, and with 0.1 when not', () => {
    const fates = drawConditions(14_000, 1).filter(({ missing, never }) => missing !== null && !never);
    const prompt = 'Judge the document.';
    const mended = (of: (fate: (typeof fates)[number]) => string): number =>
      fates.filter((fate) => answer(fate, of(fate), 2) === 0).length / fates.length;
    const category = { grounding: 'validation_grounding', reasoning: 'validation_reasoning', both: 'validation_both' };
    const told = mended(
      ({ missing }) =>
        enhancePrompt({ prompt, retry: 1, category: category[missing ?? 'both'] as 'validation_both' }).prompt,
    );
    expect(told).toBeCloseTo(0.7, 1);
    expect(mended(() => prompt)).toBeCloseTo(0.1, 1);
    // The right words for something else are not enough.
    expect(mended(() => `${prompt} Explain your reasoning step by step.`)).toBeLessThan(0.4);
  });

  it('the scripted provider fails as often as the source document says, of each kind, and one failure in five for good', () => {
    const failed = drawConditions(1_400, 9).filter(({ missing }) => missing !== null);
    expect(failed.length).toBe(200);
    for (const code of [1, 2, 3]) expect(failed.filter(({ exit_code }) => exit_code === code).length).toBe(60);
    expect(failed.filter(({ exit_code }) => exit_code === 4).length).toBe(20);
    expect(failed.filter(({ never }) => never).length).toBe(40);
    expect(failed.some(({ exit_code, never }) => exit_code === 4 && !never)).toBe(true);
  });
});

describe("the seed's 14 evaluations, lived", () => {
  it('the 14 evaluations of the source document lose two without a retry: 85.7 %', async () => {
    const arm = await runArm(seedCase('conservative'), 'no_retry');
    expect(arm).toMatchObject({ evaluations: 14, final_success: 12 / 14, recovered: 0 });
    expect(arm.remaining_failures.map(({ evaluation_id, category }) => [evaluation_id, category])).toEqual([
      ['ab2b6e81', 'validation_grounding'],
      ['8e389e4a', 'validation_both'],
    ]);
    // "Original runtime: ~6 minutes".
    expect(arm.batch_ms / 60_000).toBeCloseTo(6, 1);
  });

  it('the 14 evaluations all succeed in the conservative account: one at the first retry, one at the second', async () => {
    expect(await runArm(seedCase('conservative'), 'ours')).toMatchObject({
      first_attempt_success: 12 / 14,
      retry_1: { tried: 2, succeeded: 1, success: 0.5 },
      retry_2: { tried: 1, succeeded: 1 },
      final_success: 1,
      endless_loops: 0,
    });
  });

  it('13 of the 14 evaluations succeed in the realistic account: 92.9 %, half of the failures recovered', async () => {
    const arm = await runArm(seedCase('realistic'), 'ours');
    expect(arm).toMatchObject({ final_success: 13 / 14, recovery: 0.5, recovered: 1, superfluous_demands: 0 });
    expect(arm.remaining_failures).toMatchObject([{ evaluation_id: '8e389e4a', attempts: 3 }]);
  });

  it('the 14 evaluations cost what the analysis says when no retry succeeds: four retries, 0.0012 USD, 22 seconds, below 8 %', async () => {
    const arm = await runArm(seedCase('neither'), 'ours');
    expect(arm).toMatchObject({ added_cost_micro_usd: 1_200, added_seconds: 22, added_tokens: 4 * 3_800 });
    expect(arm.runtime_overhead).toBeLessThan(0.08);
    expect(arm.cost_overhead).toBeLessThan(0.05);
  });
});

describe('npm run eval', () => {
  it(
    'npm run eval prints one JSON object last with --json, and says that no model was measured',
    { timeout: 120_000 },
    () => {
      const root = resolve(import.meta.dirname, '../../..');
      const done = spawnSync(process.execPath, [program('eval/main.ts'), '--quick', '--json'], {
        cwd: root,
        encoding: 'utf8',
      });
      const told = JSON.parse(done.stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
      expect({ status: done.status, ok: told.ok, evaluations: told.evaluations }).toEqual({
        status: 0,
        ok: true,
        evaluations: QUICK,
      });
      expect(told.note).toContain('the machinery, not a model');
    },
  );
});
