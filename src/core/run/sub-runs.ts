import type { Json } from '../../protocol/json.ts';
import { canonicalJson, sha256Hex, subRunId } from '../../protocol/ids.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import type { Grant, Loan, SubRunOutcome, SubRunResult } from '../../protocol/sub-runs.ts';
import type { CallFailed, CallOutcome, CallSucceeded, Guidance } from '../../protocol/tools.ts';
import { unpromised } from './batch.ts';
import { leftOf, limitsOf, questionsLeft } from './ledger.ts';
import type { RunPorts } from './ports.ts';
import { millisecondsLeft } from './seconds.ts';
import type { RunState, StepInFlight } from './state.ts';

/** The agent that a step asks, or null for a tool. */
export const agentOfStep = (state: RunState, { kind, tool }: StepInFlight): string | null =>
  kind === 'tool' ? (state.run.manifest[tool]?.agent ?? null) : null;

/**
 * A step that another agent does, as a run of its own. It draws on this run's budget: its share is taken before it
 * starts and what it did not use comes back when it ends, so whatever it does, this run stays within its own limits.
 */
export async function performSubRun(
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  call: { agent: string; input: Json; guidance: Guidance; timeoutMs: number },
): Promise<CallOutcome> {
  const asked = askedFor(call.input, call.guidance);
  if ('problem' in asked) return notStarted('INVALID_INPUT', asked.problem);
  const grant = shareFor(state, step, Math.max(1, Math.floor(call.timeoutMs / 1_000)));
  if (isNothing(grant)) {
    return notStarted('SUB_RUN_NO_BUDGET', `nothing is left that ${call.agent} could draw on`);
  }
  draw(state, grant);
  const { run_id } = state.run;
  const outcome = await ports.subRun({
    run_id,
    loop_id: state.loop.loop_id,
    step_id: step.step_id,
    attempt: step.attempt,
    phase: step.phase,
    tool: step.tool,
    guidance: call.guidance,
    waited_ms: step.waited_ms,
    sub_run_id: subRunId(run_id, step.step_id, step.attempt),
    agent: call.agent,
    ...asked,
    grant,
  });
  if (outcome.class === 'not_started') giveBack(state, grant, NOTHING_USED);
  if (outcome.class === 'ended') {
    giveBack(state, grant, outcome.result);
    step.person_ms += waitedForPeople(outcome);
  }
  return toldToParent(outcome, state.cancel !== null);
}

function askedFor(input: Json, { text }: Guidance): { goal: string; input: Json } | { problem: string } {
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const { goal } = given;
  if (typeof goal !== 'string' || goal.trim() === '') return { problem: '$.goal: expected a text that is not empty' };
  if (goal.length > LIMIT.goalChars) return { problem: `$.goal: at most ${LIMIT.goalChars} characters` };
  const told = text === '' ? goal : `${goal}\n\n${text}`;
  return { goal: told.length > LIMIT.goalChars ? goal : told, input: given['input'] ?? null };
}

/**
 * What is left is shared evenly between this run and those that it starts at once, so that it can always go on after
 * them. Steps begin in step order, so who gets what never depends on who is quick.
 */
export function shareFor(state: RunState, step: StepInFlight | null, seconds: number): Grant {
  const { humans } = state.run.policy;
  const left = leftOf(limitsOf(state.run), state.ledger.used);
  const others = state.batch.filter(
    (other) => other !== step && other.end === null && other.attempt === 0 && agentOfStep(state, other) !== null,
  );
  const starting = 1 + others.length;
  const share = (amount: number): number => Math.floor(amount / (starting + 1));
  return {
    budget: {
      max_steps: share(left.steps ?? 0),
      max_attempts: share(unpromised(state, step)),
      max_model_calls: share(left.model_calls ?? 0),
      max_tokens: share(left.tokens ?? 0),
      max_cost_micro_usd: left.cost_micro_usd === null ? null : share(left.cost_micro_usd),
      max_seconds: seconds,
    },
    // Asking takes nothing from anybody while it goes on, so all questions that are left may be asked there.
    humans: { ...humans, max_questions: Math.floor(questionsLeft(state) / starting) },
  };
}

/**
 * A run that was started elsewhere, in a tool's own code or by a person, to work for this one. The same one asks again after a
 * lost answer and gets what it got. Without a grant: nothing is left to draw on, or this run has ended.
 */
export function lend(state: RunState, subRun: string, now: number): Loan {
  const before = state.loans.find(({ sub_run_id }) => sub_run_id === subRun);
  if (before !== undefined) return { grant: before.grant, is_new: false };
  if (state.ending !== null || state.cancel !== null) return NO_LOAN;
  const seconds = Math.floor(millisecondsLeft(state, now) / 1_000);
  const grant = shareFor(state, null, seconds);
  if (seconds < 1 || isNothing(grant)) return NO_LOAN;
  draw(state, grant);
  state.loans.push({ sub_run_id: subRun, grant });
  return { grant, is_new: true };
}
const NO_LOAN: Loan = { grant: null, is_new: false };

/** Once: a loan that is given back is forgotten. */
export function takeBack(state: RunState, subRun: string, end: Pick<SubRunResult, 'used' | 'questions'> | null): void {
  const loan = state.loans.find(({ sub_run_id }) => sub_run_id === subRun);
  if (loan === undefined) return;
  state.loans = state.loans.filter((one) => one !== loan);
  giveBack(state, loan.grant, end ?? NOTHING_USED);
}

const isNothing = ({ budget }: Grant): boolean => budget.max_steps === 0 || budget.max_attempts === 0;

function draw(state: RunState, { budget, humans }: Grant): void {
  const { used } = state.ledger;
  used.steps += budget.max_steps;
  used.attempts += budget.max_attempts;
  used.model_calls += budget.max_model_calls;
  used.tokens += budget.max_tokens;
  used.cost_micro_usd += budget.max_cost_micro_usd ?? 0;
  state.questions_lent += humans.max_questions;
}

/** A run never uses more than it was granted, so nothing is given back that was not drawn. */
function giveBack(state: RunState, { budget, humans }: Grant, end: Pick<SubRunResult, 'used' | 'questions'>): void {
  const { used } = state.ledger;
  const unused = (granted: number, spent: number): number => Math.max(0, granted - spent);
  used.steps -= unused(budget.max_steps, end.used.steps);
  used.attempts -= unused(budget.max_attempts, end.used.attempts);
  used.model_calls -= unused(budget.max_model_calls, end.used.model_calls);
  used.tokens -= unused(budget.max_tokens, end.used.tokens);
  // Without a cap nothing was drawn, and what it cost is only counted.
  if (budget.max_cost_micro_usd === null) used.cost_micro_usd += end.used.cost_micro_usd;
  else used.cost_micro_usd -= unused(budget.max_cost_micro_usd, end.used.cost_micro_usd);
  state.questions_lent -= unused(humans.max_questions, end.questions);
}

const NOTHING_USED = {
  used: { steps: 0, attempts: 0, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 0 },
  questions: 0,
};

/** Its seconds leave out people, so what is longer than they are was waiting; nobody was asked, nobody was waited for. */
const waitedForPeople = ({ result, duration_ms }: Extract<SubRunOutcome, { class: 'ended' }>): number =>
  result.questions === 0 ? 0 : Math.max(0, duration_ms - (result.used.seconds + 1) * 1_000);

/** Without the sub-run's id, so that the same answer twice is the same answer. */
export function toldToParent(outcome: SubRunOutcome, isCancelled: boolean): CallOutcome {
  const { duration_ms } = outcome;
  if (outcome.class === 'not_started') return { ...notStarted('SUB_RUN_NOT_STARTED', outcome.why), duration_ms };
  if (outcome.class === 'lost') {
    return { ...notStarted('SUB_RUN_LOST', outcome.why), certainty: 'unknown', duration_ms };
  }
  const { result } = outcome;
  if (result.outcome === 'cancelled' && isCancelled) return { class: 'cancelled', duration_ms };
  if (result.outcome === 'completed' || (result.outcome === 'finalized' && result.result !== null)) {
    return { ...succeeded(result), duration_ms };
  }
  const why = `${AGENT_ENDED[result.outcome]}: ${result.why}`.slice(0, LIMIT.messagePreviewChars);
  return { ...notStarted(`SUB_RUN_${result.outcome.toUpperCase()}`, why), certainty: 'failed', duration_ms };
}

const AGENT_ENDED: Record<RunOutcome, string> = {
  completed: 'it is done',
  finalized: 'a guard stopped it before it had a result',
  system_error: 'it broke',
  budget_exhausted: 'its share of the budget is used up',
  cancelled: 'it was cancelled',
};

function succeeded({ outcome, why, result }: SubRunResult): CallSucceeded {
  const stored = result?.output === null ? result.artifact_id : null;
  const output: Json = {
    outcome,
    output: stored === null ? (result?.output ?? null) : { $artifact: stored },
    ...(outcome === 'completed' ? {} : { why }),
  };
  const text = canonicalJson(output);
  return {
    class: 'ok',
    output,
    inline: true,
    artifact_id: sha256Hex(text),
    bytes: text.length,
    duration_ms: 0,
  };
}

/** Asking again as before would end as before: whoever asked has to ask for something else. */
const notStarted = (error_code: string, message_preview: string): CallFailed => ({
  class: 'failed',
  certainty: 'not_started',
  origin: 'tool',
  category: 'invalid_input',
  error_code,
  message_preview,
  duration_ms: 0,
});
