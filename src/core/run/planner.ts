import { isNamed, type Json, pathTooDeep } from '../../protocol/json.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { CallFailed, CallOutcome, Guidance } from '../../protocol/tools.ts';
import type { PlannedCall } from './batch.ts';
import { newStep } from './batch.ts';
import { attemptsLeft, leftOf, limitsOf, turnsLeft } from './ledger.ts';
import type { PlannerChoice, PlannerStep, PlannerView, RunPorts } from './ports.ts';
import { millisecondsLeft } from './seconds.ts';
import { isEnhanced, type Perform } from './step.ts';
import { budgetSpent, type RunState, type StepInFlight, type StepResult } from './state.ts';

/** The name under which a planner's own failures are remembered. */
export const PLANNER = 'planner';
const STEPS_IN_VIEW = 50;
const CALLS_IN_BATCH = 64;

/** How a turn is performed, and what came of it: null until a valid choice was made. */
export interface Turn {
  step: StepInFlight;
  perform: Perform;
  choice: PlannerChoice | null;
}

/**
 * One turn of a planner that chooses. It is a guarded step of its own kind: it retries, is repaired when its choice is
 * not a valid batch, and draws on the ledger's model calls.
 */
export function openTurn(state: RunState, ports: RunPorts, isLast: boolean): Turn {
  state.loop.turn += 1;
  const call = { plan_index: null, phase: 'plan', tool: PLANNER, input: { turn: state.loop.turn } };
  const granted = turnsLeft(state.run, state.ledger);
  const turn: Turn = {
    step: newStep('planner', state.next_step_id, call, granted),
    perform: async (step, guidance): Promise<CallOutcome> => {
      const outcome = await ports.callModel(viewOf(state, ports, step, guidance, isLast));
      if (outcome.class !== 'cancelled') chargeCalls(state, ports, step, outcome.model_calls ?? 1);
      if (outcome.class === 'failed') chargeFailed(state, ports, step, outcome);
      if (outcome.class === 'cancelled') chargeUse(state, ports, outcome);
      if (outcome.class !== 'ok') return outcome;
      const problem = problemOfUse(outcome) ?? problemOfChoice(state, outcome);
      if (problemOfUse(outcome) === null) {
        noteDearest(state, outcome);
        charge(state, ports, 'tokens', outcome.tokens);
        charge(state, ports, 'cost_micro_usd', outcome.cost_micro_usd);
      }
      if (problem !== null) return invalidChoice(problem, outcome.duration_ms);
      turn.choice = outcome;
      if (outcome.transcript !== undefined) state.loop.transcript = outcome.transcript;
      state.loop.told_step_id = state.next_step_id - 1;
      return { class: 'ok', output: null, inline: true, artifact_id: '', bytes: 0, duration_ms: outcome.duration_ms };
    },
    choice: null,
  };
  return turn;
}

const viewOf = (
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  guidance: Guidance,
  isLast: boolean,
): PlannerView => ({
  run_id: state.run.run_id,
  agent: state.run.agent,
  goal: state.run.goal,
  prompt: state.refined_goal ?? state.run.goal,
  input: state.run.input,
  loop_id: state.loop.loop_id,
  rerun: state.loop.rerun ?? null,
  turn: state.loop.turn,
  attempt: step.attempt,
  steps: stepsInView(state),
  transcript: state.loop.transcript,
  repair: step.repair,
  last_turn:
    isLast || spentOfCalls(state) !== null || (state.run.model !== null && turnsLeft(state.run, state.ledger) === 0),
  left: leftForTurn(state),
  guidance,
  mending: step.attempt > 1 && isEnhanced(state) ? step.mending : null,
  feedback: state.feedback.map((kept) => kept.text).filter((text) => text !== ''),
  timeout_ms: Math.min(LIMIT.turnMs, Math.max(1, millisecondsLeft(state, ports.now()))),
});

export const plannedCalls = (choice: PlannerChoice): PlannedCall[] =>
  choice.calls.map((call) => ({
    plan_index: null,
    phase: call.phase ?? 'act',
    tool: call.tool,
    input: call.input,
    call_id: call.call_id,
    loop_key: call.loop_key,
  }));

/** The latest steps whole; of older ones, once the view is full, only how they ended. */
function stepsInView(state: RunState): PlannerStep[] {
  let room: number = LIMIT.plannerViewChars;
  const { results, told_step_id: told } = state.loop;
  const shown = state.run.model === null ? results : results.filter((result) => result.step_id > told);
  const latestFirst = shown
    .slice(-STEPS_IN_VIEW)
    .reverse()
    .map((result) => plannerStep(state, result));
  const fitting = latestFirst.map((step) => {
    room -= JSON.stringify(step).length;
    if (room >= 0) return step;
    const { output: _output, ...ending } = step;
    return { ...ending, input: null };
  });
  return fitting.reverse();
}

function plannerStep(state: RunState, result: StepResult): PlannerStep {
  const held = result.artifact_id === null ? undefined : state.outbox.outputs[result.artifact_id];
  return {
    step_id: result.step_id,
    ...(result.call_id === undefined ? {} : { call_id: result.call_id }),
    tool: result.tool,
    input: result.input,
    status: result.status,
    ...(held === undefined ? {} : { output: held.output }),
    ...(result.artifact_id === null ? {} : { artifact_id: result.artifact_id }),
    ...(result.error_code === undefined ? {} : { error_code: result.error_code }),
    ...(result.message_preview === undefined ? {} : { message_preview: result.message_preview }),
    ...(result.detected === undefined ? {} : { detected: result.detected }),
  };
}

/**
 * A model sums up while it still can: when what is left would not pay for two more turns like the dearest so far, the next
 * one is the last. Null while there is enough.
 */
export function lastTurnBy(state: RunState): 'tokens' | 'cost_micro_usd' | null {
  const { dearest } = state.loop;
  if (state.run.model === null) return null;
  const { tokens, cost_micro_usd: cost } = leftOf(limitsOf(state.run), state.ledger.used);
  if (dearest.tokens > 0 && (tokens ?? Infinity) < 2 * dearest.tokens) return 'tokens';
  return dearest.cost_micro_usd > 0 && (cost ?? Infinity) < 2 * dearest.cost_micro_usd ? 'cost_micro_usd' : null;
}

function noteDearest({ loop }: RunState, { tokens, cost_micro_usd: cost }: PlannerChoice): void {
  const { dearest } = loop;
  loop.dearest = {
    tokens: Math.max(dearest.tokens, tokens),
    cost_micro_usd: Math.max(dearest.cost_micro_usd, cost),
  };
}

/** The outputs that a planner has not seen yet may be more than its view holds. */
export function outputsOverflow({ loop, outbox }: RunState): boolean {
  const ids = new Set(
    loop.results.filter(({ step_id }) => step_id > loop.told_step_id).map((done) => done.artifact_id),
  );
  let bytes = 0;
  for (const id of ids) bytes += id === null ? 0 : (outbox.outputs[id]?.bytes ?? 0);
  return bytes > LIMIT.plannerViewChars / 2;
}

/** Which budget leaves no room for another call of a tool, or null. */
export function spentOfCalls(state: RunState): 'steps' | 'attempts' | null {
  const steps = limitsOf(state.run).steps ?? Infinity;
  if (state.ledger.used.steps >= steps) return 'steps';
  return attemptsLeft(state.run, state.ledger) === 0 ? 'attempts' : null;
}

function leftForTurn(state: RunState): PlannerView['left'] {
  const { tokens, cost_micro_usd } = leftOf(limitsOf(state.run), state.ledger.used);
  return { turns: turnsLeft(state.run, state.ledger), tokens: tokens ?? 0, cost_micro_usd };
}

/** A turn that failed may have used something all the same; one whose end is unknown tells what it had reserved. */
function chargeFailed(state: RunState, ports: RunPorts, step: StepInFlight, failure: CallFailed): void {
  step.repair = failure.repair ?? null;
  if (failure.over_budget !== undefined) return budgetSpent(state, failure.over_budget);
  chargeUse(state, ports, failure);
}

function chargeUse(state: RunState, ports: RunPorts, told: Pick<CallFailed, 'tokens' | 'cost_micro_usd'>): void {
  const { tokens = 0, cost_micro_usd = 0 } = told;
  if (problemOfUse({ tokens, cost_micro_usd }) !== null) return;
  if (tokens > 0) charge(state, ports, 'tokens', tokens);
  if (cost_micro_usd > 0) charge(state, ports, 'cost_micro_usd', cost_micro_usd);
}

/** A turn that had to ask twice: the second is a call like any other, so the turn may try once less. */
function chargeCalls(state: RunState, ports: RunPorts, step: StepInFlight, calls: number): void {
  if (!Number.isInteger(calls) || calls <= 1) return;
  charge(state, ports, 'model_calls', calls - 1);
  step.granted -= calls - 1;
}

/**
 * A turn may use all that is left and not more: turns come one at a time, so what is left is what it had reserved. Who
 * reports more has gone past what it was given; the ledger stays within the bound, and the run ends there.
 */
export function charge(
  state: RunState,
  ports: RunPorts,
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

/** A figure that is no count would switch its budget off for good. */
function problemOfUse({
  tokens,
  cost_micro_usd: cost,
}: Pick<PlannerChoice, 'tokens' | 'cost_micro_usd'>): { path: string; message: string } | null {
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0;
  if (!isCount(tokens)) return { path: '$.tokens', message: 'expected a whole number, 0 or more' };
  return isCount(cost) ? null : { path: '$.cost_micro_usd', message: 'expected a whole number, 0 or more' };
}

function problemOfChoice(state: RunState, choice: PlannerChoice): { path: string; message: string } | null {
  if (!Array.isArray(choice.calls)) return { path: '$.calls', message: 'expected a list of calls' };
  if (choice.calls.length > CALLS_IN_BATCH) {
    return { path: '$.calls', message: `at most ${CALLS_IN_BATCH} calls at once` };
  }
  const output = problemOfInput(choice.output ?? null, LIMIT.chosenOutputBytes);
  if (output !== null) return { path: '$.output', message: output };
  const together = problemOfInput(
    choice.calls.map((call) => call?.input ?? null),
    LIMIT.chosenTogetherBytes,
  );
  if (together !== null) return { path: '$.calls', message: `the inputs of all calls together: ${together}` };
  for (const [index, call] of choice.calls.entries()) {
    if (!isNamed(call, 'tool')) return { path: `$.calls[${index}]`, message: 'expected {tool, input}' };
    if (!Object.hasOwn(state.run.manifest, call.tool)) {
      return { path: `$.calls[${index}].tool`, message: `no tool named ${call.tool.slice(0, 60)}` };
    }
    const problem = problemOfInput(call.input, LIMIT.chosenInputBytes);
    if (problem !== null) return { path: `$.calls[${index}].input`, message: problem };
  }
  return null;
}

/** What a planner chose lives in the state and travels with every view, so it is capped like everything else. */
function problemOfInput(input: Json, most: number): string | null {
  if (pathTooDeep(input) !== null) return `nested deeper than ${LIMIT.jsonLevels} levels`;
  const size = JSON.stringify(input)?.length ?? 0;
  return size > most ? `${size} characters are over the cap of ${most}; make it shorter` : null;
}

const invalidChoice = (problem: { path: string; message: string }, durationMs: number): CallFailed => ({
  class: 'failed',
  certainty: 'failed',
  origin: 'tool',
  category: 'contract_violation',
  error_code: 'INVALID_PLAN',
  message_preview: `${problem.path}: ${problem.message}`,
  paths: [problem.path],
  // A schema alone would not tell what was wrong: the next attempt is told in words.
  missed: [`${problem.path}: ${problem.message}`],
  duration_ms: durationMs,
});
