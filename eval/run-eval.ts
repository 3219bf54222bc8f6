import { report, type Bar, type Report } from '../bench/report.ts';
import { runArm, type Arm, type Case } from './arms.ts';
import { drawConditions } from './provider.ts';
import { seedCase } from './seed-case.ts';

export const BARS: Bar[] = [
  { figure: 'final_success', atLeast: 0.92 },
  { figure: 'recovery', atLeast: 0.5 },
  { figure: 'recovery_above_plain', atLeast: 0.2 },
  { figure: 'cost_overhead', atMost: 0.05 },
  { figure: 'runtime_overhead', atMost: 0.15 },
  { figure: 'endless_loops', atMost: 0 },
  { figure: 'superfluous_demands', atMost: 0 },
  { figure: 'seed_case_final_success', atLeast: 0.92 },
];

export interface EvalReport extends Report {
  evaluations: number;
  seed: number;
  arms: Record<'no_retry' | 'plain_retry' | 'ours', Arm>;
}

export async function runEval(evaluations: number, seed: number): Promise<EvalReport> {
  const cases: Case[] = drawConditions(evaluations, seed).map((fate, index) => ({
    subject: { id: `evaluation-${index + 1}`, model: 'scripted', document: `document-${index + 1}` },
    fate,
  }));
  const none = await runArm(cases, 'no_retry');
  const plain = await runArm(cases, 'plain_retry');
  const ours = await runArm(cases, 'ours');
  const seedsOwn = await runArm(seedCase('realistic'), 'ours');
  const arms = { no_retry: none, plain_retry: plain, ours };
  const recovery = (arm: Arm): number => arm.recovery ?? 0;
  const figures = {
    first_attempt_success: ours.first_attempt_success ?? 0,
    final_success: ours.final_success ?? 0,
    final_success_plain: plain.final_success ?? 0,
    final_success_no_retry: none.final_success ?? 0,
    recovery: recovery(ours),
    recovery_plain: recovery(plain),
    recovery_above_plain: recovery(ours) - recovery(plain),
    cost_overhead: ours.cost_overhead ?? 0,
    // On the clock: the batch compared with one without any retry.
    runtime_overhead: ours.batch_ms / none.batch_ms - 1,
    cost_overhead_of_calls: ours.cost_overhead_of_attempts ?? 0,
    runtime_overhead_of_calls: ours.runtime_overhead_of_attempts ?? 0,
    added_seconds: ours.added_seconds,
    added_tokens: ours.added_tokens,
    added_cost_usd: ours.added_cost_micro_usd / 1_000_000,
    cost_per_extra_success_usd: (ours.cost_per_extra_success_micro_usd ?? 0) / 1_000_000,
    endless_loops: none.endless_loops + plain.endless_loops + ours.endless_loops + seedsOwn.endless_loops,
    superfluous_demands: ours.superfluous_demands + seedsOwn.superfluous_demands,
    seed_case_final_success: seedsOwn.final_success ?? 0,
  };
  return { ...report(figures, BARS), evaluations, seed, arms };
}
