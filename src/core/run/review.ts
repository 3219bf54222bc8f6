import type { Json } from '../../protocol/json.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import type { LoopAnswer } from '../guardrails/loop-answer.ts';
import { beginReview } from '../guardrails/guard-state.ts';
import { completeLoop } from '../guardrails/guard-family.ts';
import { couldBeOverridden } from '../guardrails/family-overrides.ts';
import { errorsOfReview, type ReviewReport } from '../guardrails/loop-report.ts';
import { loopTrace } from '../guardrails/loop-trace.ts';
import { answerFeedback } from './answer-feedback.ts';
import { newStep } from './batch.ts';
import { effectsTold } from './effects.ts';
import { leftOf, limitsOf } from './ledger.ts';
import { charge } from './planner.ts';
import type { ReviewUse, ReviewView, RunPorts } from './ports.ts';
import { type Answered, askHuman, publish } from './questions.ts';
import { resultOfLoop, rowsOf } from './result.ts';
import { millisecondsLeft } from './seconds.ts';
import { stepsToJudge } from './steps-to-judge.ts';
import { endWith, openLoop, type RunState, type StepResult } from './state.ts';

/**
 * A finished loop is judged, and the guardrails decide: another loop with what was learnt, or the end. The best loop's
 * result is kept, so that a run which is stopped by a guard still hands back the best it had.
 */
export async function reviewLoop(state: RunState, ports: RunPorts): Promise<void> {
  state.state = 'reviewing';
  state.guard = beginReview(state.guard);
  const { missed = [], ...review } = await reviewOf(state, ports);
  if (state.cancel !== null) return;
  keepBest(state, review);
  if (state.ending !== null) return;
  const answer = await decide(state, ports, review);
  if (answer === null) return;
  const decision = answer.decision_result;
  ports.log({ event: 'decision', loop_id: answer.loop_id, decision: decision.decision, ...scores(review) });
  if (decision.decision === 'rerun') {
    state.past_steps = [...state.past_steps, ...rowsOf(state)].slice(-LIMIT.pastSteps);
    const done = effectsTold(state);
    const rerun = {
      of: state.loop.loop_id,
      reason: decision.rerun_reason,
      missed,
      ...(done.length > 0 && { done }),
    };
    state.loop = { ...openLoop(decision.new_loop_id), rerun };
    state.state = 'running';
    publish(state, ports, traceItem(state, answer.loop_id));
    return;
  }
  const outcome: RunOutcome = decision.finalize_reason === 'thresholds_met' ? 'completed' : 'finalized';
  endWith(state, { outcome, reason: decision.finalize_reason, why: WHY_FINAL[decision.finalize_reason] });
}

const traceItem = (state: RunState, loopId: string): Json =>
  (loopTrace(state.guard).find((item) => item.loop_id === loopId) ?? null) as unknown as Json;

const WHY_FINAL = {
  thresholds_met: 'all of its work is done',
  bias_echo: 'the same bias came back too often',
  max_reruns_reached: 'no rerun is left; the best result is kept',
  fatigue_threshold_exceeded: 'reruns stopped helping; the best result is kept',
} as const;

/**
 * The rules reviewer costs nothing and asks nobody: alignment is the share of steps that succeeded (a step that a person
 * left out is nobody's failure), drift the share of steps outside the plan, and a given plan is never left.
 */
export function reviewByRules(state: RunState): ReviewReport {
  const { results } = state.loop;
  const judged = results.filter((result) => result.status === 'ok' || result.status === 'failed');
  const succeeded = judged.filter((result) => result.status === 'ok' || isMended(results, result)).length;
  const share = judged.length === 0 ? 1 : succeeded / judged.length;
  // Scores are decimal: four places are more than any threshold asks for.
  return {
    alignment_score: Math.round(share * 10_000) / 10_000,
    drift_score: 0,
    summary_valid: true,
    reflection_persona: 'RULES',
    missed: judged
      .filter((result) => result.status === 'failed' && !isMended(results, result))
      .slice(-MISSED_STEPS)
      .map(({ tool, error_code: code = 'FAILED', message_preview: said = '' }) =>
        `${tool} failed with ${code}: ${said}`.slice(0, LIMIT.messagePreviewChars),
      ),
  };
}
const MISSED_STEPS = 5;

/**
 * A planner that chooses has mended a failure when the same tool worked later in the pass, or when it saw the failure and
 * something it chose then worked: it found another way, and that is no reason to do it all again.
 */
const isMended = (results: StepResult[], failed: StepResult): boolean =>
  failed.plan_index === null &&
  results.some(
    (later) =>
      later.status === 'ok' &&
      later.step_id > failed.step_id &&
      (later.tool === failed.tool || (later.turn ?? 0) > (failed.turn ?? 0)),
  );

async function reviewOf(state: RunState, ports: RunPorts): Promise<ReviewReport> {
  const byRules = reviewByRules(state);
  const detected = answerFeedback(state);
  if (detected !== null) {
    const { feedback_type, confidence, signal } = detected;
    const { loop_id } = state.loop;
    ports.log({ event: 'answer_reports_failure', loop_id, feedback_type, confidence, signal });
  }
  if (state.run.reviewer === 'rules') return byRules;
  const outcome = await ports.review(viewOf(state, ports, byRules, detected));
  if (outcome.class !== 'cancelled') chargeReview(state, ports, outcome);
  const errors = outcome.class === 'ok' ? errorsOfReview(outcome.review) : [];
  if (outcome.class === 'ok' && errors.length === 0) return outcome.review;
  // A reviewer is a help, never a gate: without its word the rules decide, and the log says so.
  ports.log({ event: 'review_failed', loop_id: state.loop.loop_id, reason: errors[0]?.path ?? outcome.class });
  return byRules;
}

function viewOf(state: RunState, ports: RunPorts, byRules: ReviewReport, detected: ReviewView['detected']): ReviewView {
  const { run, loop } = state;
  const { model_calls, tokens, cost_micro_usd } = leftOf(limitsOf(run), state.ledger.used);
  return {
    run_id: run.run_id,
    agent: run.agent,
    goal: run.goal,
    loop_id: loop.loop_id,
    steps: stepsToJudge(state),
    output: resultOfLoop(state)?.output ?? null,
    by_rules: { ...scores(byRules), summary_valid: true },
    detected,
    left: { model_calls: model_calls ?? 0, tokens: tokens ?? 0, cost_micro_usd },
    timeout_ms: Math.min(LIMIT.turnMs, Math.max(1, millisecondsLeft(state, ports.now()))),
  };
}

/** A review that asked a model draws on the same budgets as the planner's turns. */
function chargeReview(state: RunState, ports: RunPorts, used: ReviewUse): void {
  for (const budget of ['model_calls', 'tokens', 'cost_micro_usd'] as const) {
    const amount = used[budget] ?? 0;
    if (Number.isInteger(amount) && amount > 0) charge(state, ports, budget, amount);
  }
}

/** The decision; where a guard would end the run and the policy asks people first, their answer decides. */
async function decide(state: RunState, ports: RunPorts, review: ReviewReport): Promise<LoopAnswer | null> {
  let judged = judge(state, ports, review, {});
  if (state.run.policy.reruns.on_guard === 'ask_human' && couldBeOverridden(state.guard, judged.answer)) {
    const answer = await askForOneMore(state, ports, review, judged.answer);
    if (state.cancel !== null) return null;
    const flags = { override_fatigue: true, override_max_reruns: true, override_by: answer.by ?? 'policy' };
    // Judged again: an override may have come in while the person thought.
    judged = judge(state, ports, review, answer.decision === 'retry' ? flags : {});
  }
  state.guard = judged.state;
  return judged.answer;
}

function askForOneMore(
  state: RunState,
  ports: RunPorts,
  { alignment_score: alignment, drift_score: drift }: ReviewReport,
  { decision_result: decision }: LoopAnswer,
): Promise<Answered> {
  const reason = decision.decision === 'finalize' ? decision.finalize_reason : '';
  const step = newStep('tool', Math.max(0, state.next_step_id - 1), NO_CALL, 0);
  return askHuman(state, ports, step, {
    text: `${state.loop.loop_id} ends with alignment ${alignment} and drift ${drift}, and ${reason} ends the run. One more pass?`,
    tried: [],
    options: ['retry', 'stop'],
  });
}

const NO_CALL = { plan_index: null, phase: 'review', tool: 'review', input: null };

function judge(state: RunState, ports: RunPorts, review: ReviewReport, flags: Record<string, Json>) {
  const report = { loop_id: state.loop.loop_id, reflection_status: 'done', reflection_result: review, ...flags };
  const judged = completeLoop(state.guard, report, state.run.policy, isoTime(ports.now()), {
    // Nobody else can report our own loop, so its name is all that tells one report from another.
    bodyHash: state.loop.loop_id,
    biasElsewhere: state.run.memory.bias_elsewhere ?? {},
  });
  // Our own report of our own loop is always in order: a refusal would be a bug.
  if (!judged.ok) throw new RangeError(judged.detail);
  return judged;
}

function keepBest(state: RunState, review: ReviewReport): void {
  const { best } = state;
  const isBetter =
    best === null ||
    review.alignment_score > best.alignment_score ||
    (review.alignment_score === best.alignment_score && review.drift_score <= best.drift_score);
  if (isBetter) state.best = { ...scores(review), result: resultOfLoop(state) };
}

const scores = ({ alignment_score, drift_score }: ReviewReport) => ({ alignment_score, drift_score });
