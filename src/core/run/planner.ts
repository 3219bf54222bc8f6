import { CAP } from '../../protocol/caps.ts';
import type { CallFailed, CallOutcome } from '../../protocol/tools.ts';
import { type Attempt, type Call, openStep, type Step } from './attempts.ts';
import { callOf } from './batch.ts';
import { retryContextFor } from './call-tool.ts';
import { invalidChoice, problemOfChoice, problemOfUse } from './check-choice.ts';
import { attemptsLeft, leftOf, limitsOf, millisecondsLeft, turnsLeft } from './ledger.ts';
import { budgetSpent } from './life.ts';
import { plannerSteps } from './planner-steps.ts';
import type { PlannerChoice, PlannerView } from './ports.ts';
import type { Perform } from './run-step.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** The name under which a planner's own failures are remembered. */
export const PLANNER = 'planner';

/** How a turn is performed, and its choice: null until a valid one was made. */
export interface Turn {
  step: Step;
  perform: Perform;
  choice: PlannerChoice | null;
}

/**
 * Opens one turn of a planner that chooses. A turn is a guarded step of its own kind: it retries, is repaired when its
 * choice is not a valid batch, and draws on the budget of model calls.
 */
export function openTurn(story: Story, isLast: boolean): Turn {
  const { state } = story;
  const { loop, ledger } = state;
  loop.turn += 1;
  const call: Call = { plan_index: null, phase: 'plan', tool: PLANNER, input: { turn: loop.turn } };
  const turn: Turn = {
    step: openStep('planner', ledger.next_step_id, call, turnsLeft(state)),
    perform: (step, attempt) => takeTurn(story, turn, attempt, { step, isLast }),
    choice: null,
  };
  return turn;
}

async function takeTurn(
  story: Story,
  turn: Turn,
  attempt: Attempt,
  { step, isLast }: { step: Step; isLast: boolean },
): Promise<CallOutcome> {
  const { state, ports } = story;
  const outcome = await ports.callModel(viewFor(story, step, attempt, isLast));
  if (outcome.class !== 'cancelled') chargeCalls(story, step, outcome.model_calls ?? 1);
  if (outcome.class !== 'ok') {
    if (outcome.class === 'failed' && outcome.over_budget !== undefined) budgetSpent(state, outcome.over_budget);
    else chargeUse(story, outcome);
    return outcome;
  }
  const badUse = problemOfUse(outcome);
  if (badUse === null) {
    noteExpense(state, outcome);
    charge(story, 'tokens', outcome.tokens);
    charge(story, 'cost_micro_usd', outcome.cost_micro_usd);
  }
  const problem = badUse ?? problemOfChoice(state, outcome);
  if (problem !== null) return invalidChoice(problem, outcome.duration_ms);
  turn.choice = outcome;
  if (outcome.transcript !== undefined) state.loop.transcript = outcome.transcript;
  state.loop.told_step_id = state.ledger.next_step_id - 1;
  return { class: 'ok', output: null, inline: true, artifact_id: '', bytes: 0, duration_ms: outcome.duration_ms };
}

function viewFor({ state, ports }: Story, step: Step, attempt: Attempt, isLast: boolean): PlannerView {
  const { run, loop, people } = state;
  const { tokens, cost_micro_usd } = leftOf(limitsOf(run), state.ledger.used);
  const turns = turnsLeft(state);
  return {
    run_id: run.run_id,
    agent: run.agent,
    goal: run.goal,
    prompt: people.refined_goal ?? run.goal,
    input: run.input,
    loop_id: loop.loop_id,
    rerun: loop.rerun ?? null,
    turn: loop.turn,
    attempt: attempt.n,
    steps: plannerSteps(state),
    transcript: loop.transcript,
    repair: repairOf(step),
    last_turn: isLast || spentOnCalls(state) !== null || (run.model !== null && turns === 0),
    left: { turns, tokens: tokens ?? 0, cost_micro_usd },
    guidance: attempt.guidance ?? { rows: [], text: '' },
    retry_context: retryContextFor(state, step),
    feedback: people.feedback.map((kept) => kept.text).filter((text) => text !== ''),
    timeout_ms: Math.min(CAP.turnMs, Math.max(1, millisecondsLeft(state, ports.now()))),
  };
}

/** What the attempt before said that could not be used, by id. */
function repairOf(step: Step): string | null {
  const before = step.attempts.at(-2)?.outcome;
  return before?.class === 'failed' ? (before.repair ?? null) : null;
}

export const plannedCalls = ({ loop }: RunState, choice: PlannerChoice): Call[] =>
  choice.calls.map(({ phase = 'act', tool, input, call_id, loop_key }) =>
    callOf({ plan_index: null, phase, tool, input, call_id, loop_key, turn: loop.turn }),
  );

/**
 * A model sums up while it still can: when what is left would not pay for two more turns like the most expensive one so
 * far, the next turn is the last. Returns the budget that is nearly spent, or null.
 */
export function lastTurnBy(state: RunState): 'tokens' | 'cost_micro_usd' | null {
  const { most_expensive: most } = state.loop;
  if (state.run.model === null) return null;
  const { tokens, cost_micro_usd: cost } = leftOf(limitsOf(state.run), state.ledger.used);
  if (most.tokens > 0 && (tokens ?? Infinity) < 2 * most.tokens) return 'tokens';
  return most.cost_micro_usd > 0 && (cost ?? Infinity) < 2 * most.cost_micro_usd ? 'cost_micro_usd' : null;
}

function noteExpense({ loop }: RunState, { tokens, cost_micro_usd: cost }: PlannerChoice): void {
  const { most_expensive: most } = loop;
  loop.most_expensive = {
    tokens: Math.max(most.tokens, tokens),
    cost_micro_usd: Math.max(most.cost_micro_usd, cost),
  };
}

/** Which budget leaves no room for another tool call, or null. */
export function spentOnCalls(state: RunState): 'steps' | 'attempts' | null {
  const steps = limitsOf(state.run).steps ?? Infinity;
  if (state.ledger.used.steps >= steps) return 'steps';
  return attemptsLeft(state) === 0 ? 'attempts' : null;
}

/** A failed or cancelled turn may have used something; one whose end is unknown reports what it had reserved. */
function chargeUse(story: Story, told: Pick<CallFailed, 'tokens' | 'cost_micro_usd'>): void {
  const { tokens = 0, cost_micro_usd = 0 } = told;
  if (problemOfUse({ tokens, cost_micro_usd }) !== null) return;
  if (tokens > 0) charge(story, 'tokens', tokens);
  if (cost_micro_usd > 0) charge(story, 'cost_micro_usd', cost_micro_usd);
}

/** A turn that asked the model twice has used two model calls, so it may try once less. */
function chargeCalls(story: Story, step: Step, calls: number): void {
  if (!Number.isInteger(calls) || calls <= 1) return;
  charge(story, 'model_calls', calls - 1);
  step.granted -= calls - 1;
}

/**
 * Charges what a turn or a review used. Turns come one at a time, so all that is left was reserved for it. When it
 * reports more, the ledger stays within the limit and the run ends.
 */
export function charge(
  { state, ports }: Story,
  budget: 'tokens' | 'cost_micro_usd' | 'model_calls',
  amount: number,
): void {
  const { used } = state.ledger;
  const left = (limitsOf(state.run)[budget] ?? Infinity) - used[budget];
  used[budget] += Math.min(amount, left);
  if (amount <= left) return;
  ports.log({ event: 'budget_overrun', budget, reported: amount, left });
  budgetSpent(state, budget);
}
