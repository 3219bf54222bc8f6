/** `secondwind simulate`: what it prints and how it ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../../src/cli/program.ts';
import * as many from '../../../../src/testing/simulator/hostile/simulate-many.ts';

vi.mock('../../../../src/testing/simulator/hostile/simulate-many.ts', { spy: true });

let written: string;
beforeEach(() => {
  written = '';
  process.exitCode = undefined;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

const simulate = (...flags: string[]) => createProgram().parseAsync(['simulate', ...flags], { from: 'user' });

describe('secondwind simulate', { timeout: 60_000 }, () => {
  it('secondwind simulate prints a table', async () => {
    await simulate('--runs', '20', '--seed', '5');
    expect(written).toMatch(/^20 runs from seed 5, \d+ a second: 20 ended, 0 passed a figure of the bound\.\n/);
    for (const name of ['outcome', 'finalized', 'closest', 'wait_ms']) expect(written).toContain(name);
    expect(process.exitCode).toBeUndefined();
  });

  it('secondwind simulate prints JSON, and for a single run how it ended', async () => {
    await simulate('--runs', '1', '--seed', '5', '--json');
    const told = JSON.parse(written) as Record<string, unknown>;
    expect(told).toMatchObject({ ok: true, runs: 1, ended: 1, exceeded_bound: 0, runs_per_s: expect.any(Number) });
    expect(Object.values(told['outcomes'] as object)).toEqual([1]);
  });

  it('secondwind simulate exits with 1 and the seed when a limit was exceeded or a run did not end', async () => {
    const fine = await many.simulateMany({ runs: 2, seed: 5 });
    vi.mocked(many.simulateMany).mockResolvedValueOnce({
      ...fine,
      ok: false,
      exceeded_bound: 1,
      violations: [{ seed: 6, figure: 'steps', used: 3, bound: 2 }],
    });
    await simulate('--runs', '2', '--seed', '5');
    expect(written).toContain('VIOLATION steps: 3 of 2; reproduce with --runs 1 --seed 6');
    expect(process.exitCode).toBe(1);
  });

  it.each([
    ['--runs', '0'],
    ['--runs', '1e3'],
    ['--seed', '-1'],
    ['--seed', '99999999999'],
  ])('refuses %s %s', async (flag, value) => {
    await expect(simulate(flag, value)).rejects.toMatchObject({ code: 'bad_usage' });
  });
});
