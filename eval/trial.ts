/**
 * `npm run trial [-- --seeds 200] [-- --json]`: simulated worlds in which a lesson helps, harms or does nothing. Prints how soon
 * its trial says so, and what the hold-out costs; exits 1 if a target is missed.
 */
import { isWithheld, shareWithheld } from '../src/core/lessons/assignment.ts';
import { Trial } from '../src/core/lessons/trial.ts';
import { DEFAULT_POLICY } from '../src/protocol/policy.ts';
import { seededRandom } from '../src/testing/simulator/seeded-random.ts';

interface TrialWorld {
  what: string;
  base: number;
  effect: number;
  /** The trial is followed until this many runs were shown the lesson. */
  shown: number;
  verdict: 'harms' | 'helps';
  /** The share of seeds in which the verdict has to fall, or may fall at most. */
  target: { least?: number; most?: number };
}

const WORLDS: readonly TrialWorld[] = [
  { what: 'lowers 0.80 by 30 points', base: 0.8, effect: -0.3, shown: 80, verdict: 'harms', target: { least: 0.95 } },
  { what: 'lowers 0.80 by 15 points', base: 0.8, effect: -0.15, shown: 300, verdict: 'harms', target: { least: 0.9 } },
  { what: 'raises 0.70 by 15 points', base: 0.7, effect: 0.15, shown: 300, verdict: 'helps', target: { least: 0.9 } },
  { what: 'changes nothing (harm)', base: 0.8, effect: 0, shown: 500, verdict: 'harms', target: { most: 0.05 } },
  { what: 'changes nothing (help)', base: 0.8, effect: 0, shown: 500, verdict: 'helps', target: {} },
  { what: 'lowers 0.80 by 5 points', base: 0.8, effect: -0.05, shown: 2_000, verdict: 'harms', target: {} },
];

interface Lived {
  /** Runs that saw the lesson until the verdict; null if there was none. */
  at: number | null;
  runs: number;
  /** Successes that the withheld runs would have had more, had they seen a lesson that helps. */
  missed: number;
}

const candidate = shareWithheld({ status: 'candidate', phase: '0' }, DEFAULT_POLICY.memory.holdout);

/** Follows one lesson: each run is shown it or not by the hash of the product, and the trial is asked after every run. */
function live({ base, effect, shown: most, verdict }: TrialWorld, seed: number): Lived {
  const random = seededRandom(seed);
  const trial = new Trial();
  for (let run = 1; ; run += 1) {
    const shown = !isWithheld(`trial-${seed}-${run}`, seed, candidate);
    const first_ok = random() < base + (shown ? effect : 0);
    trial.add({ shown, share_shown: 1 - candidate, first_ok });
    const isFound = trial.verdict === verdict;
    if (!isFound && trial.shown.n < most) continue;
    const missed = Math.max(0, effect) * trial.withheld.n;
    return { at: isFound ? trial.shown.n : null, runs: run, missed };
  }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function measure(world: TrialWorld, seeds: number) {
  const lived = Array.from({ length: seeds }, (_, seed) => live(world, seed + 1));
  const at = lived.flatMap((one) => one.at ?? []).sort((one, other) => one - other);
  const share = at.length / seeds;
  const { least = 0, most = 1 } = world.target;
  return {
    ...world,
    share,
    ok: share >= least && share <= most,
    shown_median: at.length === 0 ? null : quantile(at, 0.5),
    shown_p90: at.length === 0 ? null : quantile(at, 0.9),
    runs_mean: mean(lived.map(({ runs }) => runs)),
    missed_mean: mean(lived.map(({ missed }) => missed)),
  };
}

const asked = process.argv.indexOf('--seeds');
const seeds = asked === -1 ? 200 : Number(process.argv[asked + 1]);
const rows = WORLDS.map((world) => measure(world, seeds));
const ok = rows.every((row) => row.ok);
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

if (process.argv.includes('--json')) console.log(JSON.stringify({ ok, seeds, rows }));
else {
  const { holdout } = DEFAULT_POLICY.memory;
  console.log(
    `${seeds} seeds. A candidate is withheld from ${percent(candidate)} of the runs, a proven lesson from ${percent(holdout)}.`,
  );
  console.log(
    'A trial is asked after every run. Its risk of a wrong verdict is 5 % on each side, however often it is asked.\n',
  );
  for (const row of rows) {
    const { least, most } = row.target;
    const target =
      least !== undefined ? `target ≥ ${percent(least)}` : most !== undefined ? `target ≤ ${percent(most)}` : '';
    const when =
      row.shown_median === null ? '' : `after ${row.shown_median} shown runs (median), ${row.shown_p90} (90 %)`;
    console.log(
      `${row.ok ? ' ' : '✗'} ${row.what.padEnd(26)} ${`found to ${row.verdict.slice(0, -1)}`.padEnd(14)} within ${String(row.shown).padStart(5)}: ${percent(row.share).padStart(7)}  ${target.padEnd(16)} ${when}`,
    );
  }
  const helps = rows.find(({ effect }) => effect > 0);
  if (helps !== undefined) {
    console.log(
      `\nCost of the hold-out for a lesson that raises 0.70 by 15 points: ${helps.missed_mean.toFixed(1)} successes missed in ${helps.runs_mean.toFixed(0)} runs until it is proven, then ${(100 * holdout * helps.effect).toFixed(1)} in every 100 runs.`,
    );
  }
}
process.exitCode = ok ? 0 : 1;
