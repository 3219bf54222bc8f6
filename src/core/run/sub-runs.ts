import { defined, type Json } from '../../protocol/json.ts';
import { canonicalJson, sha256Hex, subRunId } from '../../protocol/ids.ts';
import { CAP } from '../../protocol/caps.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import type { Grant, Loan, SubRunOutcome, SubRunResult } from '../../protocol/sub-runs.ts';
import type { CallFailed, CallOutcome, CallSucceeded, Guidance } from '../../protocol/tools.ts';
import { type Attempt, attemptCount, type Step } from './attempts.ts';
import { unreservedAttempts } from './batch.ts';
import { mergeEffects, shareEffects } from './known-effects.ts';
import { leftOf, limitsOf, millisecondsLeft, questionsLeft } from './ledger.ts';
import { isCancelled, isOver } from './life.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** The agent whose run does this step, or null for a tool. */
export const agentOfStep = ({ run }: RunState, { kind, call }: Step): string | null =>
  kind === 'tool' ? (run.manifest[call.tool]?.agent ?? null) : null;

/**
 * Performs a step that another agent does in a run of its own. The grant of that run is taken from this run's budget
 * before it starts, and the unused part is returned when it ends, so this run always stays within its own limit.
 */
export async function runSubRun(story: Story, step: Step, attempt: Attempt, input: Json): Promise<CallOutcome> {
  const { state, ports } = story;
  const agent = agentOfStep(state, step) ?? '';
  const guidance = attempt.guidance ?? { rows: [], text: '' };
  const asked = parseInput(input, guidance);
  if ('problem' in asked) return notStarted('INVALID_INPUT', asked.problem);
  const timeLeftMs = Math.max(1, millisecondsLeft(state, ports.now()));
  const timeoutMs = Math.min(timeLeftMs, state.run.manifest[step.call.tool]?.timeout_ms ?? timeLeftMs);
  const grant = grantFor(state, step, Math.max(1, Math.floor(timeoutMs / 1_000)));
  if (isEmptyGrant(grant)) return notStarted('SUB_RUN_NO_BUDGET', `no budget is left for the agent ${agent}`);
  drawGrant(state, grant);
  const { run_id } = state.run;
  const outcome = await ports.subRun({
    run_id,
    loop_id: state.loop.loop_id,
    step_id: step.step_id,
    attempt: attempt.n,
    phase: step.call.phase,
    tool: step.call.tool,
    guidance,
    waited_ms: attempt.waited_ms,
    sub_run_id: subRunId(run_id, step.step_id, attempt.n),
    agent,
    ...defined({ tenant: state.run.tenant }),
    ...asked,
    grant,
    effects: shareEffects(state, laneFor(state, step, attempt)),
  });
  if (outcome.class === 'not_started') returnUnused(state, grant, NOTHING_USED);
  if (outcome.class === 'ended') {
    returnUnused(state, grant, outcome.result);
    mergeEffects(state, outcome.result.effects);
  }
  const stepOutcome = toStepOutcome(outcome, isCancelled(state));
  const person_ms = outcome.class === 'ended' ? waitedForPeople(outcome) : 0;
  return person_ms === 0 || stepOutcome.class === 'cancelled' ? stepOutcome : { ...stepOutcome, person_ms };
}

/**
 * A sub-run that works beside other steps gets a lane of its own; one that works alone continues this run's keys. A step
 * that has ended counts as long as it is not settled, because its call is not counted as done before.
 */
const laneFor = ({ loop, run }: RunState, step: Step, attempt: Attempt): string | null =>
  loop.batch.some((other) => other !== step && !loop.steps.includes(other))
    ? subRunId(run.run_id, step.step_id, attempt.n)
    : null;

/** Reads goal and input of the sub-run from the step's input; guidance is added to the goal where it fits. */
function parseInput(input: Json, { text }: Guidance): { goal: string; input: Json } | { problem: string } {
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const { goal } = given;
  if (typeof goal !== 'string' || goal.trim() === '') return { problem: '$.goal: expected a text that is not empty' };
  if (goal.length > CAP.goalChars) return { problem: `$.goal: at most ${CAP.goalChars} characters` };
  const withGuidance = text === '' ? goal : `${goal}\n\n${text}`;
  return { goal: withGuidance.length > CAP.goalChars ? goal : withGuidance, input: given['input'] ?? null };
}

/**
 * Shares the remaining budget evenly between this run and the sub-runs that it starts together, so that this run can
 * continue after them. Steps begin in step order, so a grant does not depend on which step is faster.
 */
function grantFor(state: RunState, step: Step | null, seconds: number): Grant {
  const { humans } = state.run.policy;
  const left = leftOf(limitsOf(state.run), state.ledger.used);
  const others = state.loop.batch.filter(
    (other) => other !== step && other.end === null && attemptCount(other) === 0 && agentOfStep(state, other) !== null,
  );
  const starting = 1 + others.length;
  const share = (amount: number): number => Math.floor(amount / (starting + 1));
  return {
    budget: {
      max_steps: share(left.steps ?? 0),
      max_attempts: share(unreservedAttempts(state, step)),
      max_model_calls: share(left.model_calls ?? 0),
      max_tokens: share(left.tokens ?? 0),
      max_cost_micro_usd: left.cost_micro_usd === null ? null : share(left.cost_micro_usd),
      max_seconds: seconds,
    },
    // Only one question is open at a time, so the sub-runs may use all that are left.
    humans: { ...humans, max_questions: Math.floor(questionsLeft(state) / starting) },
  };
}

/**
 * Lends budget to a run that was started elsewhere, in a tool's own code or by a person, to work for this one. A second
 * request of the same run returns the same grant. The grant is null when nothing is left or this run is ending.
 */
export function lend(state: RunState, subRun: string, now: number): Loan {
  const before = state.ledger.loans.find(({ sub_run_id }) => sub_run_id === subRun);
  if (before !== undefined) return { grant: before.grant, is_new: false, effects: shareEffects(state, subRun) };
  if (isOver(state)) return NO_LOAN;
  const seconds = Math.floor(millisecondsLeft(state, now) / 1_000);
  const grant = grantFor(state, null, seconds);
  if (seconds < 1 || isEmptyGrant(grant)) return NO_LOAN;
  drawGrant(state, grant);
  state.ledger.loans.push({ sub_run_id: subRun, grant });
  // The step that started it is under way, so it never works alone.
  return { grant, is_new: true, effects: shareEffects(state, subRun) };
}
const NO_LOAN: Loan = { grant: null, is_new: false };

/** Takes back the unused part of a loan. A second call for the same run changes nothing. */
export function takeBack(state: RunState, subRun: string, end: SubRunEnd | null): void {
  const loan = state.ledger.loans.find(({ sub_run_id }) => sub_run_id === subRun);
  if (loan === undefined) return;
  state.ledger.loans = state.ledger.loans.filter((one) => one !== loan);
  returnUnused(state, loan.grant, end ?? NOTHING_USED);
  mergeEffects(state, end?.effects);
}
type SubRunEnd = Pick<SubRunResult, 'used' | 'questions' | 'effects'>;

const isEmptyGrant = ({ budget }: Grant): boolean => budget.max_steps === 0 || budget.max_attempts === 0;

function drawGrant(state: RunState, { budget, humans }: Grant): void {
  const { used } = state.ledger;
  used.steps += budget.max_steps;
  used.attempts += budget.max_attempts;
  used.model_calls += budget.max_model_calls;
  used.tokens += budget.max_tokens;
  used.cost_micro_usd += budget.max_cost_micro_usd ?? 0;
  state.ledger.questions.lent += humans.max_questions;
}

/** Returns the part of a grant that the sub-run did not use to the ledger. */
function returnUnused(state: RunState, { budget, humans }: Grant, end: Pick<SubRunResult, 'used' | 'questions'>): void {
  const { used } = state.ledger;
  const unused = (granted: number, spent: number): number => Math.max(0, granted - spent);
  used.steps -= unused(budget.max_steps, end.used.steps);
  used.attempts -= unused(budget.max_attempts, end.used.attempts);
  used.model_calls -= unused(budget.max_model_calls, end.used.model_calls);
  used.tokens -= unused(budget.max_tokens, end.used.tokens);
  // Without a cost budget nothing was taken from it, so the cost is only counted.
  if (budget.max_cost_micro_usd === null) used.cost_micro_usd += end.used.cost_micro_usd;
  else used.cost_micro_usd -= unused(budget.max_cost_micro_usd, end.used.cost_micro_usd);
  state.ledger.questions.lent -= unused(humans.max_questions, end.questions);
}

const NOTHING_USED = {
  used: { steps: 0, attempts: 0, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 0 },
  questions: 0,
};

/**
 * How long a sub-run waited for people: its duration beyond the seconds that it used, because those leave out waiting
 * for people.
 */
const waitedForPeople = ({ result, duration_ms }: Extract<SubRunOutcome, { class: 'ended' }>): number =>
  result.questions === 0 ? 0 : Math.max(0, duration_ms - (result.used.seconds + 1) * 1_000);

/**
 * Converts the end of a sub-run to the outcome of a step. Leaves out the sub-run's id, so that equal outputs have equal
 * hashes.
 */
export function toStepOutcome(outcome: SubRunOutcome, isCancelled: boolean): CallOutcome {
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
  const why = `${AGENT_ENDED[result.outcome]}: ${result.why}`.slice(0, CAP.messagePreviewChars);
  return { ...notStarted(`SUB_RUN_${result.outcome.toUpperCase()}`, why), certainty: 'failed', duration_ms };
}

const AGENT_ENDED: Record<RunOutcome, string> = {
  completed: 'it completed',
  finalized: 'a guard stopped it before it had a result',
  system_error: 'it failed with a system error',
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

/**
 * A failure that is not retried, because the same request would fail again: the caller has to ask for something else.
 */
const notStarted = (error_code: string, message_preview: string): CallFailed => ({
  class: 'failed',
  certainty: 'not_started',
  origin: 'tool',
  category: 'invalid_input',
  error_code,
  message_preview,
  duration_ms: 0,
});
