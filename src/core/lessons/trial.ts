/**
 * Whether a lesson helps, measured on the runs that it was shown to and on those from which it was withheld.
 *
 * The test is a betting confidence sequence for the difference of two success rates. Each run gives
 * z = (y - m) * (shown / p - withheld / (1 - p)), where y is 1 for a success, p is the known probability of being shown, and
 * m is a guess of y from earlier runs only. Because a hash decides who is shown, the mean of z is the effect, whatever m is and
 * however the rates drift. A gambler who bets on z has an expected fortune of at most 1 if there is no effect, so the chance
 * that the fortune ever reaches 20 is at most 5 %, however often one looks. `npm run trial` compares the sample sizes.
 */
export interface TrialObservation {
  shown: boolean;
  /** The probability with which this run was shown the lesson. */
  share_shown: number;
  /** The step was right at the first attempt. */
  first_ok: boolean;
}

/** The risk of a wrong verdict, separately for harm and for help. */
export const TRIAL_RISK = 0.05;

/**
 * How much of its fortune a gambler bets, and the weight of each gambler. Chosen by measurement: the larger bets find effects
 * of 15 to 30 points soonest, and the small one finds effects of 5 points at all.
 */
const BETS = [
  { bet: 0.06, weight: 0.1 },
  { bet: 0.18, weight: 0.4 },
  { bet: 0.28, weight: 0.5 },
] as const;
/** A bet never risks more than this share of the fortune. */
const MOST_RISKED = 0.9;
/** The guess before there are observations: three successes of four. */
const PRIOR_OK = 3;
const PRIOR_N = 4;

export type TrialVerdict = 'helps' | 'harms' | 'open';

export interface ArmCount {
  n: number;
  ok: number;
}

export interface TrialFigures {
  shown: ArmCount;
  withheld: ArmCount;
  /** The difference of the success rates; null while one side has no run. */
  effect: number | null;
  /** The interval that contains the true effect at every look, with a risk of 5 % on each side. */
  low: number;
  high: number;
  verdict: TrialVerdict;
}

interface Bet {
  z: number;
  /** The largest distance of z from 0 that was possible. */
  reach: number;
}

/** Collects observations one by one. `verdict` may be read after each of them. */
export class Trial {
  readonly shown: ArmCount = { n: 0, ok: 0 };
  readonly withheld: ArmCount = { n: 0, ok: 0 };
  private readonly bets: Bet[] = [];
  private readonly forHelp = BETS.map(() => 0);
  private readonly forHarm = BETS.map(() => 0);

  add({ shown, share_shown: p, first_ok }: TrialObservation): void {
    const guess = (1 - p) * guessOf(this.shown) + p * guessOf(this.withheld);
    const z = ((first_ok ? 1 : 0) - guess) * (shown ? 1 / p : -1 / (1 - p));
    const reach = Math.max(guess, 1 - guess) * Math.max(1 / p, 1 / (1 - p));
    this.bets.push({ z, reach });
    addBet(this.forHelp, z, reach);
    addBet(this.forHarm, -z, reach);
    const arm = shown ? this.shown : this.withheld;
    arm.n += 1;
    if (first_ok) arm.ok += 1;
  }

  get verdict(): TrialVerdict {
    if (fortuneOf(this.forHarm) >= 1 / TRIAL_RISK) return 'harms';
    return fortuneOf(this.forHelp) >= 1 / TRIAL_RISK ? 'helps' : 'open';
  }

  figures(): TrialFigures {
    const { shown, withheld } = this;
    const effect = shown.n === 0 || withheld.n === 0 ? null : shown.ok / shown.n - withheld.ok / withheld.n;
    return { shown, withheld, effect, low: this.boundOf(1), high: this.boundOf(-1), verdict: this.verdict };
  }

  /** The largest effect below which the bets have won (side 1), or the smallest above which they have (side -1). */
  private boundOf(side: 1 | -1): number {
    let excluded = -1;
    let possible = 1;
    for (let round = 0; round < 12; round += 1) {
      const middle = (excluded + possible) / 2;
      if (this.excludes(side, middle)) excluded = middle;
      else possible = middle;
    }
    return side * excluded;
  }

  /** Whether the true effect is not below `effect`, seen from this side. */
  private excludes(side: 1 | -1, effect: number): boolean {
    const logs = BETS.map(() => 0);
    for (const { z, reach } of this.bets) addBet(logs, side * z - effect, reach + Math.abs(effect));
    return fortuneOf(logs) >= 1 / TRIAL_RISK;
  }
}

const guessOf = ({ n, ok }: ArmCount): number => (ok + PRIOR_OK) / (n + PRIOR_N);

function addBet(logs: number[], win: number, reach: number): void {
  for (const [index, { bet }] of BETS.entries()) {
    logs[index] = (logs[index] ?? 0) + Math.log1p(Math.min(bet, MOST_RISKED / reach) * win);
  }
}

const fortuneOf = (logs: readonly number[]): number =>
  BETS.reduce((sum, { weight }, index) => sum + weight * Math.exp(logs[index] ?? 0), 0);

/** Judges all observations of a trial, oldest first. */
export function judgeTrial(observations: readonly TrialObservation[]): TrialFigures {
  const trial = new Trial();
  for (const observation of observations) trial.add(observation);
  return trial.figures();
}
