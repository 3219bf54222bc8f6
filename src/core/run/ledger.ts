import type { AmountLimits, Amounts, PreparedRun } from '../../protocol/run.ts';
import type { RunState } from './state.ts';

/** One budget over every layer: retries, planner turns and reruns all draw on it. */
export interface Ledger {
  used: Amounts;
  /** Time spent waiting for a person: it never counts against a run. */
  human_wait_ms: number;
  /** The highest warning given so far for each budget, so that each is given once. */
  warned: Partial<Record<keyof Amounts, 'soft' | 'near'>>;
}

export const openLedger = (): Ledger => ({
  used: { steps: 0, attempts: 0, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 0 },
  human_wait_ms: 0,
  warned: {},
});

/** The policy's caps, tightened by the bound: neither is ever passed. */
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

/** Running time so far, in whole seconds, without the time spent waiting for people. */
export const runningSeconds = (startedAt: number, now: number, humanWaitMs: number): number =>
  Math.max(0, Math.floor((now - startedAt - humanWaitMs) / 1000));

export interface Pressure {
  budget: keyof Amounts;
  level: 'soft' | 'near';
}

const BUDGETS = ['steps', 'attempts', 'model_calls', 'tokens', 'cost_micro_usd', 'seconds'] as const;

/** Which budgets have newly reached their soft or near mark. Marks them as warned. */
export function newPressure(ledger: Ledger, limits: AmountLimits, soft: number, near: number): Pressure[] {
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

/** What the budget leaves for tool calls, whoever it is promised to. */
export const attemptsLeft = (run: PreparedRun, ledger: Ledger): number =>
  left(limitsOf(run).attempts, ledger.used.attempts) ?? Infinity;
export const turnsLeft = (run: PreparedRun, ledger: Ledger): number =>
  left(limitsOf(run).model_calls, ledger.used.model_calls) ?? Infinity;

/** A question that a sub-run may ask is not this run's to ask. */
export const questionsLeft = ({ run, questions_asked: asked, questions_lent: lent }: RunState): number =>
  Math.max(0, run.policy.humans.max_questions - asked - lent);
