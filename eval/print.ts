import type { Arm } from './arms.ts';
import { BARS, type EvalReport } from './run-eval.ts';
import { ASSUMED } from './seed-figures.ts';
import { type measureSwitch, SWITCH_LIMIT } from './switch-seeds.ts';

export const NOTE =
  'This measures the machinery, not a model: the provider is scripted. It is assumed to mend itself with a chance of ' +
  `${ASSUMED.mends_when_told} when the prompt names what it missed, of ${ASSUMED.mends_when_not_told} when not, and one ` +
  `failure in ${ASSUMED.never_in} never. What a real model does with the same prompt, only a real model can tell.`;

const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);

export function printEval(result: EvalReport): void {
  const { arms, figures } = result;
  const rows: [string, Arm][] = [
    ['no retry', arms.no_retry],
    ['plain retry', arms.plain_retry],
    ['secondwind', arms.ours],
  ];
  console.log(`${result.evaluations} evaluations, the same in every arm (seed ${result.seed})\n`);
  console.log(
    `${''.padEnd(12)} ${['first', 'retry 1', 'retry 2', 'final', 'recovery'].map((s) => s.padStart(9)).join('')}`,
  );
  for (const [name, arm] of rows) {
    const cells = [
      arm.first_attempt_success,
      arm.retry_1.success,
      arm.retry_2.success,
      arm.final_success,
      arm.recovery,
    ];
    console.log(`${name.padEnd(12)} ${cells.map((share) => percent(share).padStart(9)).join('')}`);
  }
  console.log(
    `\nadded to the batch    ${percent(figures.runtime_overhead ?? null)} runtime, ${percent(figures.cost_overhead ?? null)} cost`,
  );
  console.log(
    `against calls alone   ${percent(figures.runtime_overhead_of_calls ?? null)} runtime, ${percent(figures.cost_overhead_of_calls ?? null)} cost`,
  );
  console.log(
    `${arms.ours.recovered} more successes for $${(figures.added_cost_usd ?? 0).toFixed(4)} and ${figures.added_seconds} s` +
      `; endless loops: ${figures.endless_loops}\n`,
  );
  for (const { figure, atLeast, atMost } of BARS) {
    const value = Number((figures[figure] ?? Number.NaN).toFixed(4));
    console.log(
      `${figure.padEnd(26)} ${String(value).padStart(8)}  ${atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`}`,
    );
  }
  for (const sentence of result.missed) console.log(`missed: ${sentence}`);
  console.log(`\n${NOTE}`);
}

/** Prints what the rollback rule did with the same evaluations under the default policy. */
export function printSwitch(
  { seeds, stays_on, off_after }: Awaited<ReturnType<typeof measureSwitch>>,
  evaluations: number,
): void {
  console.log(
    `\nThe rollback rule over ${evaluations} evaluations, one run in ten held out: enhancement stays on in ${stays_on} of ${seeds} seeds.`,
  );
  const latest = off_after.map((after) => (after === null ? `not within ${SWITCH_LIMIT}` : String(after)));
  console.log(`If enhancement is useless and slow, it goes off after ${latest.join(', ')} evaluations.`);
}
