import type { Amounts } from '../../protocol/run.ts';
import type { GuidanceRow } from '../../protocol/tools.ts';
import type { Step } from './attempts.ts';
import { limitsOf } from './ledger.ts';
import type { RunState } from './state.ts';

const NAMES: Record<keyof Amounts, string> = {
  steps: 'steps',
  attempts: 'attempts',
  model_calls: 'model calls',
  tokens: 'tokens',
  cost_micro_usd: 'cost in micro-USD',
  seconds: 'seconds',
};

/** Two budgets keep the row under 200 characters, the smallest cap that a policy can set. */
const SHOWN_BUDGETS = 2;

/**
 * The row about budgets that run out, for whoever plans: one row for all of them, the nearest to its end first. A tool
 * cannot do less, so it gets none.
 */
export function pressureRows(state: RunState, step: Step): GuidanceRow[] {
  if (step.kind !== 'planner') return [];
  const pressed = pressedBudgets(state);
  const [first] = pressed;
  if (first === undefined) return [];
  const advice = pressed.some(({ isNear }) => isNear) ? 'finish with what is there' : 'do only what is needed';
  const named = pressed
    .slice(0, SHOWN_BUDGETS)
    .map(
      ({ budget, isNear, used, limit }) =>
        `${NAMES[budget]} ${isNear ? 'almost' : 'mostly'} used up (${used} of ${limit})`,
    );
  return [
    {
      fingerprint: first.fingerprint,
      failure_id: first.failure_id,
      relevance: 1,
      why: `a budget has passed its ${first.isNear ? 'near' : 'soft'} mark`,
      text: `If more work is planned, then ${advice}, because budgets run out: ${named.join(', ')}.`,
    },
  ];
}

interface PressedBudget {
  budget: keyof Amounts;
  isNear: boolean;
  used: number;
  limit: number;
  fingerprint: string;
  failure_id: string;
}

/** The budgets that a warning was recorded for. A warning that a person superseded is not shown. */
function pressedBudgets({ run, ledger, failures }: RunState): PressedBudget[] {
  const limits = limitsOf(run);
  return failures.by_fingerprint
    .flatMap(({ status, signal_type, kind, recommended_adjustment: advice, fingerprint, last_failure_id }) => {
      if (status !== 'active' || signal_type !== 'budget_pressure' || advice.type !== 'reduce_scope') return [];
      const budget = advice.budget as keyof Amounts;
      const isNear = kind === 'near_limit';
      // The near mark replaces the soft one.
      if (ledger.warned[budget] !== (isNear ? 'near' : 'soft')) return [];
      const limit = limits[budget] ?? 0;
      return [{ budget, isNear, used: ledger.used[budget], limit, fingerprint, failure_id: last_failure_id }];
    })
    .toSorted((one, other) => other.used / other.limit - one.used / one.limit);
}
