import type { AmountLimits, Amounts, PreparedRun } from '../../protocol/run.ts';
import type { Grant } from '../../protocol/sub-runs.ts';
import type { FigureCounts } from './figures.ts';
import type { RunState } from './state.ts';

/** The budget that retries, planner turns, reruns and sub-runs share. */
export interface Ledger {
  used: Amounts;
  /** Time spent waiting for a person. The run's time budget leaves it out. */
  human_wait_ms: number;
  /** The highest warning given so far for each budget, so that each is given once. */
  warned: Partial<Record<keyof Amounts, 'soft' | 'near'>>;
  next_step_id: number;
  /** `lent`: questions that sub-runs have asked, or may ask while they are under way. */
  questions: { asked: number; lent: number };
  /** Budgets granted to runs that were started elsewhere to work for this one, until they return them. */
  loans: { sub_run_id: string; grant: Grant }[];
  /** Work since the latest evaluation that was not an evaluation itself. Absent while there is none. */
  other_work?: { ms: number; cost_micro_usd: number };
  /** Counts for the monitors. Absent while there is none. */
  figures?: FigureCounts;
}

export const openLedger = (): Ledger => ({
  used: { steps: 0, attempts: 0, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 0 },
  human_wait_ms: 0,
  warned: {},
  next_step_id: 1,
  questions: { asked: 0, lent: 0 },
  loans: [],
});

/** The budgets that apply: for each amount the smaller of the policy's budget and the run's limit. */
export function limitsOf(run: PreparedRun): AmountLimits {
  const { budget } = run.policy;
  return {
    steps: Math.min(budget.max_steps, run.bound.steps),
    attempts: Math.min(budget.max_attempts, run.bound.attempts),
    model_calls: Math.min(budget.max_model_calls, run.bound.model_calls),
    tokens: Math.min(budget.max_tokens, run.bound.tokens),
    cost_micro_usd: budget.max_cost_micro_usd,
    seconds: budget.max_seconds,
  };
}

export const leftOf = (limits: AmountLimits, used: Amounts): AmountLimits => ({
  steps: left(limits.steps, used.steps),
  attempts: left(limits.attempts, used.attempts),
  model_calls: left(limits.model_calls, used.model_calls),
  tokens: left(limits.tokens, used.tokens),
  cost_micro_usd: left(limits.cost_micro_usd, used.cost_micro_usd),
  seconds: left(limits.seconds, used.seconds),
});

const left = (limit: number | null, used: number): number | null => (limit === null ? null : Math.max(0, limit - used));

/** Returns how much of the run's time is left, and updates the ledger's seconds. */
export function millisecondsLeft(state: RunState, now: number): number {
  const runningMs = now - state.started_at - state.ledger.human_wait_ms;
  state.ledger.used.seconds = Math.max(0, Math.floor(runningMs / 1_000));
  return state.run.policy.budget.max_seconds * 1_000 - runningMs;
}

export interface Pressure {
  budget: keyof Amounts;
  level: 'soft' | 'near';
}

const BUDGETS = ['steps', 'attempts', 'model_calls', 'tokens', 'cost_micro_usd', 'seconds'] as const;

/** Returns the budgets that have newly reached their soft or near mark, and marks them as warned. */
export function newPressure({ run, ledger }: RunState): Pressure[] {
  const { soft, near } = run.policy.budget;
  const limits = limitsOf(run);
  const found: Pressure[] = [];
  for (const budget of BUDGETS) {
    const limit = limits[budget];
    if (limit === null || limit === 0) continue;
    const share = ledger.used[budget] / limit;
    const level = share >= near ? 'near' : share >= soft ? 'soft' : null;
    const before = ledger.warned[budget];
    if (level === null || before === 'near' || before === level) continue;
    ledger.warned[budget] = level;
    found.push({ budget, level });
  }
  return found;
}

/** Attempts that are left in the budget, including those that are reserved for steps. */
export const attemptsLeft = ({ run, ledger }: RunState): number =>
  left(limitsOf(run).attempts, ledger.used.attempts) ?? Infinity;

export const turnsLeft = ({ run, ledger }: RunState): number =>
  left(limitsOf(run).model_calls, ledger.used.model_calls) ?? Infinity;

/** Questions that this run itself may still ask. Questions lent to sub-runs do not count. */
export const questionsLeft = ({ run, ledger: { questions } }: RunState): number =>
  Math.max(0, run.policy.humans.max_questions - questions.asked - questions.lent);
