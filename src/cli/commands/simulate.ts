import type { Command } from 'commander';
import type { SimulationSummary } from '../../testing/simulator/hostile/simulate-many.ts';

interface SimulateFlags {
  runs: string;
  seed: string;
  policy?: string;
  json?: boolean;
}

const MOST_RUNS = 10_000_000;
const LARGEST_SEED = 2_147_483_647;
/** Progress is printed in this interval, so a short simulation prints none. */
const PROGRESS_EVERY_MS = 2_000;

export function addSimulate(program: Command): void {
  program
    .command('simulate')
    .description('simulate many runs in a hostile world, in virtual time, and compare each with its limit')
    .option('--runs <n>', 'the number of runs', '1000')
    .option('--seed <n>', 'the seed of the first run; each further run uses the next', '1')
    .option('--policy <file>', 'a JSON file with any part of a policy (default: a random policy for each run)')
    .option('--json', 'print JSON')
    .action(async (flags: SimulateFlags) => {
      const [{ simulateMany }, { readPolicy }, { SecondwindError }] = await Promise.all([
        import('../../testing/simulator/hostile/simulate-many.ts'),
        import('../read-input.ts'),
        import('../../protocol/errors.ts'),
      ]);
      const whole = (name: 'runs' | 'seed', least: number, most: number): number => {
        const value = /^\d+$/.test(flags[name]) ? Number(flags[name]) : Number.NaN;
        if (value >= least && value <= most) return value;
        const wrong = `--${name} ${flags[name]} is invalid: expected a whole number from ${least} to ${most}.`;
        throw new SecondwindError('bad_usage', wrong, 'Correct it and try again.');
      };
      const runs = whole('runs', 1, MOST_RUNS);
      const seed = whole('seed', 0, LARGEST_SEED);
      const policy = flags.policy === undefined ? undefined : await readPolicy(flags.policy);
      const simulated = await simulateMany({ runs, seed, policy, onProgress: printProgress(runs) });
      process.stdout.write(`${flags.json ? JSON.stringify(simulated) : table(simulated, seed).join('\n')}\n`);
      if (!simulated.ok) process.exitCode = 1;
    });
}

/** Prints progress to stderr, so that stdout has only the result. */
function printProgress(runs: number): (done: number) => void {
  const startedAt = performance.now();
  let toldAt = startedAt;
  return (done) => {
    const now = performance.now();
    if (done === runs || now - toldAt < PROGRESS_EVERY_MS) return;
    toldAt = now;
    const left = Math.ceil(((now - startedAt) / done) * (runs - done) * 0.001);
    process.stderr.write(`${done} of ${runs} runs, about ${left} s left\n`);
  };
}

function table(simulated: SimulationSummary, seed: number): string[] {
  const {
    runs,
    ended,
    exceeded_bound: exceeded,
    effects,
    effects_twice: twice,
    outcomes,
    closest,
    reached,
    violations,
  } = simulated;
  const column = (text: string | number, width: number): string => String(text).padStart(width);
  const row = (name: string, ...cells: string[]): string => `  ${name.padEnd(18)}${cells.join('')}`;
  const tell = (share: number | null): string =>
    share === null ? '-' : `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
  return [
    `${runs} ${runs === 1 ? 'run' : 'runs'} from seed ${seed}, ${simulated.runs_per_s} a second: ` +
      `${ended} ended, ${exceeded} passed a figure of the bound.`,
    `${effects} side effects happened, ${twice} of them twice without a person's \`not_done\`.`,
    '',
    row('outcome', column('runs', 10)),
    ...Object.entries(outcomes)
      .sort(([, one], [, other]) => other - one)
      .map(([outcome, count]) => row(outcome, column(count, 10))),
    '',
    row('figure', column('closest', 10), column('reached by', 12)),
    ...Object.entries(closest).map(([figure, share]) =>
      row(figure, column(tell(share), 10), column(reached[figure as keyof typeof reached], 12)),
    ),
    ...violations.map(
      ({ seed: ownSeed, figure, used, bound, why }) =>
        `VIOLATION ${figure}: ${why ?? `${used} of ${bound}`}; reproduce with --runs 1 --seed ${ownSeed}`,
    ),
  ];
}
