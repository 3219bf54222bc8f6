import { CAP } from '../../protocol/caps.ts';
import { PLANNER } from '../../protocol/names.ts';
import type { CallFailed, CallOutcome } from '../../protocol/tools.ts';
import { type Attempt, type Call, openStep, type Step } from './attempts.ts';
import { makeCall } from './batch.ts';
import { retryContextFor } from './call-tool.ts';
import { invalidChoice, checkChoice, checkUse } from './check-choice.ts';
import { attemptsLeft, leftOf, limitsOf, millisecondsLeft, turnsLeft } from './ledger.ts';
import { endForBudget } from './life.ts';
import { plannerSteps } from './planner-steps.ts';
import type { PlannerChoice, PlannerView } from './ports.ts';
import type { Perform } from './run-step.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** One turn of the planner. `choice` is null until the planner has made a valid choice. */
export interface Turn {
  step: Step;
  perform: Perform;
  choice: PlannerChoice | null;
}

/**
 * Opens one turn of a planner that chooses. A turn is a guarded step of its own kind: it is retried, gets a repair
 * message when its choice is not a valid batch, and draws on the budget of model calls.
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
    if (outcome.class === 'failed' && outcome.over_budget !== undefined) endForBudget(state, outcome.over_budget);
    else chargeUse(story, outcome);
    return outcome;
  }
  const badUse = checkUse(outcome);
  if (badUse === null) {
    recordExpense(state, outcome);
    charge(story, 'tokens', outcome.tokens);
    charge(story, 'cost_micro_usd', outcome.cost_micro_usd);
  }
  const problem = badUse ?? checkChoice(state, outcome);
  if (problem !== null) return invalidChoice(problem, outcome.duration_ms);
  turn.choice = outcome;
  keepMessage(state, outcome);
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
    repair: lastUnusableAnswer(step),
    last_turn: isLast || budgetSpentOnCalls(state) !== null || (run.model !== null && turns === 0),
    left: { turns, tokens: tokens ?? 0, cost_micro_usd },
    guidance: attempt.guidance ?? { rows: [], text: '' },
    retry_context: retryContextFor(state, step),
    feedback: people.feedback.map((kept) => kept.text).filter((text) => text !== ''),
    timeout_ms: Math.min(CAP.turnMs, Math.max(1, millisecondsLeft(state, ports.now()))),
  };
}

/** The id of the previous attempt's answer, if that answer could not be used. */
function lastUnusableAnswer(step: Step): string | null {
  const before = step.attempts.at(-2)?.outcome;
  return before?.class === 'failed' ? (before.repair ?? null) : null;
}

export const plannedCalls = ({ loop }: RunState, choice: PlannerChoice): Call[] =>
  choice.calls.map(({ phase = 'act', tool, input, call_id, loop_key }) =>
    makeCall({ plan_index: null, phase, tool, input, call_id, loop_key, turn: loop.turn }),
  );

/**
 * Returns the token or cost budget that is nearly spent, or null. The next turn is then the last one, so that the model
 * can still summarise: the rest would not pay for two more turns like the most expensive one so far.
 */
export function budgetNearlySpent(state: RunState): 'tokens' | 'cost_micro_usd' | null {
  const { most_expensive: most } = state.loop;
  if (state.run.model === null) return null;
  const { tokens, cost_micro_usd: cost } = leftOf(limitsOf(state.run), state.ledger.used);
  if (most.tokens > 0 && (tokens ?? Infinity) < 2 * most.tokens) return 'tokens';
  return most.cost_micro_usd > 0 && (cost ?? Infinity) < 2 * most.cost_micro_usd ? 'cost_micro_usd' : null;
}

/** Keeps what the planner wrote beside its calls, because a person who has to decide about one of them should see its reason. */
function keepMessage({ loop }: RunState, { message }: PlannerChoice): void {
  const said = typeof message === 'string' ? message.trim().slice(0, CAP.textChars) : '';
  if (said === '') delete loop.said;
  else loop.said = said;
}

function recordExpense({ loop }: RunState, { tokens, cost_micro_usd: cost }: PlannerChoice): void {
  const { most_expensive: most } = loop;
  loop.most_expensive = {
    tokens: Math.max(most.tokens, tokens),
    cost_micro_usd: Math.max(most.cost_micro_usd, cost),
  };
}

/** Returns the budget that leaves no room for another tool call, or null. */
export function budgetSpentOnCalls(state: RunState): 'steps' | 'attempts' | null {
  const steps = limitsOf(state.run).steps ?? Infinity;
  if (state.ledger.used.steps >= steps) return 'steps';
  return attemptsLeft(state) === 0 ? 'attempts' : null;
}

/** Charges what a failed or cancelled turn used. A turn whose end is unknown reports what it had reserved. */
function chargeUse(story: Story, used: Pick<CallFailed, 'tokens' | 'cost_micro_usd'>): void {
  const { tokens = 0, cost_micro_usd = 0 } = used;
  if (checkUse({ tokens, cost_micro_usd }) !== null) return;
  if (tokens > 0) charge(story, 'tokens', tokens);
  if (cost_micro_usd > 0) charge(story, 'cost_micro_usd', cost_micro_usd);
}

/** Charges the additional model calls of a turn. A turn that called the model twice may be retried one time less. */
function chargeCalls(story: Story, step: Step, calls: number): void {
  if (!Number.isInteger(calls) || calls <= 1) return;
  charge(story, 'model_calls', calls - 1);
  step.granted -= calls - 1;
}

/**
 * Charges what a turn or a review used. Turns run one at a time, so a turn may use all that is left. When it reports
 * more than that, the ledger stays at its limit and the run ends.
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
  endForBudget(state, budget);
}
