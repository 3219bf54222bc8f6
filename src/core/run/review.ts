import type { Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import type { DetectedFeedback } from '../../protocol/tools.ts';
import { detectFeedback } from '../feedback/detect.ts';
import { canBeOverridden } from '../guardrails/family-overrides.ts';
import { completeLoop } from '../guardrails/guard-family.ts';
import { beginReview } from '../guardrails/guard-state.ts';
import type { LoopAnswer } from '../guardrails/loop-answer.ts';
import { checkReview, type ReviewReport } from '../guardrails/loop-report.ts';
import { buildLoopTrace } from '../guardrails/loop-trace.ts';
import { type Step, statusOfStep } from './attempts.ts';
import { recordOverride } from './corrections.ts';
import { describePasses } from './describe-attempts.ts';
import { summarizeForPlanner } from './planner-steps.ts';
import { openNextPass, summarizeEffects, summarizeUnknown } from './effects.ts';
import { noteProgressAt } from './figures.ts';
import { recordDecision } from './guard-decisions.ts';
import { leftOf, limitsOf, millisecondsLeft } from './ledger.ts';
import { holdInputs } from './kept-inputs.ts';
import { endWith, isCancelled, isOver } from './life.ts';
import { keepUnsavedRecords } from './outbox.ts';
import { charge } from './planner.ts';
import type { ReviewUse, ReviewView } from './ports.ts';
import { type QuestionOutcome, askHuman, publish } from './questions.ts';
import { archivedSteps, resultOfLoop } from './result.ts';
import { learnFromReview, readReviewTrials } from './review-lessons.ts';
import { openLoop, type RunState } from './state.ts';
import { stepsToJudge } from './steps-to-judge.ts';
import type { Story } from './story.ts';

/**
 * Reviews a finished pass and lets the guardrails decide: another pass with guidance from this one, or the end. The
 * result of the best pass is kept, so that a run that a guard stops returns its best result.
 */
export async function reviewLoop(story: Story): Promise<void> {
  const { state, ports } = story;
  state.life = { is: 'running', reviewing: true };
  state.guard = beginReview(state.guard);
  const { missed = [], ...review } = await requestReview(story);
  if (isCancelled(state)) return;
  keepBest(state, review, ports.now());
  if (isOver(state)) return;
  const answer = await decide(story, review, missed);
  if (answer === null) return;
  const decision = answer.decision_result;
  const isGoodEnough = decision.decision === 'finalize' && decision.finalize_reason === 'thresholds_met';
  readReviewTrials(state, isGoodEnough);
  if (isGoodEnough) learnFromReview(state, review.alignment_score);
  ports.log({ event: 'decision', loop_id: answer.loop_id, decision: decision.decision, ...scores(review) });
  if (decision.decision === 'rerun') {
    startNextLoop(state, decision, missed);
    return publish(story, traceItem(state, answer.loop_id));
  }
  const outcome: RunOutcome = decision.finalize_reason === 'thresholds_met' ? 'completed' : 'finalized';
  endWith(state, { outcome, reason: decision.finalize_reason, why: WHY_FINAL[decision.finalize_reason] });
}

function startNextLoop(
  state: RunState,
  decision: { new_loop_id: string; rerun_reason: string },
  missed: string[],
): void {
  const { loop, earlier } = state;
  earlier.steps = [...earlier.steps, ...archivedSteps(state)].slice(-CAP.pastSteps);
  keepUnsavedRecords(state, loop.steps);
  holdInputs(state);
  const done = summarizeEffects(state);
  const unknown = summarizeUnknown(state);
  const rerun = {
    of: loop.loop_id,
    reason: decision.rerun_reason,
    missed,
    ...(done.length > 0 && { done }),
    ...(unknown.length > 0 && { unknown }),
  };
  state.loop = openLoop(decision.new_loop_id, rerun);
  openNextPass(state);
  state.life = { is: 'running' };
}

const traceItem = (state: RunState, loopId: string): Json =>
  (buildLoopTrace(state.guard).find((item) => item.loop_id === loopId) ?? null) as unknown as Json;

const WHY_FINAL = {
  thresholds_met: 'all of its work is done',
  bias_echo: 'the same bias came back too often',
  max_reruns_reached: 'no rerun is left; the best result is kept',
  fatigue_threshold_exceeded: 'reruns stopped helping; the best result is kept',
} as const;

/**
 * Reviews a pass without a model. Alignment is the share of steps that succeeded; steps that a person skipped do not
 * count. Drift is the share of steps outside the plan, which is always 0 because a run never leaves a given plan.
 */
export function reviewByRules(state: RunState): ReviewReport {
  const { steps } = state.loop;
  const judged = steps.filter((step) => ['ok', 'failed'].includes(statusOfStep(step)));
  const missed = judged.filter((step) => statusOfStep(step) === 'failed' && !isRecovered(steps, step));
  const share = judged.length === 0 ? 1 : (judged.length - missed.length) / judged.length;
  return {
    // Scores have four decimal places, which is more than any threshold needs.
    alignment_score: Math.round(share * 10_000) / 10_000,
    drift_score: 0,
    summary_valid: true,
    reflection_persona: 'RULES',
    missed: missed.slice(-MISSED_STEPS).map((step) => {
      const { error_code: code = 'FAILED', message_preview: said = '' } = summarizeForPlanner(state, step);
      return `${step.call.tool} failed with ${code}: ${said}`.slice(0, CAP.messagePreviewChars);
    }),
  };
}
const MISSED_STEPS = 5;

/**
 * True when a planner has recovered from a failure: the same tool succeeded later in the pass, or a call that it chose
 * after seeing the failure succeeded. Such a failure is no reason for another pass.
 */
const isRecovered = (steps: Step[], failed: Step): boolean =>
  failed.call.plan_index === null &&
  steps.some(
    (later) =>
      statusOfStep(later) === 'ok' &&
      later.step_id > failed.step_id &&
      (later.call.tool === failed.call.tool || (later.call.turn ?? 0) > (failed.call.turn ?? 0)),
  );

async function requestReview(story: Story): Promise<ReviewReport> {
  const { state, ports } = story;
  const byRules = reviewByRules(state);
  const detected = failureInAnswer(state);
  const { loop_id } = state.loop;
  if (detected !== null) ports.log({ event: 'answer_reports_failure', loop_id, ...detected });
  if (state.run.reviewer === 'rules') return byRules;
  const outcome = await ports.review(viewFor(story, byRules, detected));
  if (outcome.class !== 'cancelled') chargeReview(story, outcome);
  const errors = outcome.class === 'ok' ? checkReview(outcome.review) : [];
  if (outcome.class === 'ok' && errors.length === 0) return outcome.review;
  // A failed reviewer must not stop the run: without a valid review the rules decide, and the log says so.
  ports.log({ event: 'review_failed', loop_id, reason: errors[0]?.path ?? outcome.class });
  return byRules;
}

/**
 * Finds a failure that a model's final answer reports, such as "2 tests failed". The model may still have done the
 * task, so this is shown to the reviewer and is not a failure by itself.
 */
function failureInAnswer({ run, loop }: RunState): DetectedFeedback | null {
  if (run.model === null || loop.output === null) return null;
  const { feedback_type: type, confidence, matches } = detectFeedback(textsIn(loop.output).join('\n'));
  if (type !== 'verification_failure' && type !== 'runtime_error') return null;
  const signal = matches.find((match) => match.feedback_type === type)?.text ?? '';
  return { feedback_type: type, confidence, signal };
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function viewFor({ state, ports }: Story, byRules: ReviewReport, detected: ReviewView['detected']): ReviewView {
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
    timeout_ms: Math.min(CAP.turnMs, Math.max(1, millisecondsLeft(state, ports.now()))),
  };
}

/** Charges a review that called a model to the same budgets as the planner's turns. */
function chargeReview(story: Story, used: ReviewUse): void {
  for (const budget of ['model_calls', 'tokens', 'cost_micro_usd'] as const) {
    const amount = used[budget] ?? 0;
    if (Number.isInteger(amount) && amount > 0) charge(story, budget, amount);
  }
}

/**
 * Returns the guardrails' decision. If a guard would end the run and the policy says to ask people first, their answer
 * decides.
 */
async function decide(story: Story, review: ReviewReport, missed: string[]): Promise<LoopAnswer | null> {
  const { state } = story;
  let judged = judge(story, review, {});
  if (state.run.policy.reruns.on_guard === 'ask_human' && canBeOverridden(state.guard, judged.answer)) {
    recordGuardrail(story, judged.answer, 'ask_human');
    const answer = await askForOneMore(story, review, missed, judged.answer);
    if (isOver(state)) return null;
    judged = judgeAfterAnswer(story, review, judged, answer);
  } else recordGuardrail(story, judged.answer, 'finalize');
  state.guard = judged.state;
  recordSpentOverrides(story);
  return judged.answer;
}

/** Records that a guardrail ends the run, or asks a person whether it should. */
function recordGuardrail(
  story: Story,
  { decision_result: result }: LoopAnswer,
  action: 'ask_human' | 'finalize',
): void {
  if (result.decision !== 'finalize' || !result.force_finalize) return;
  const rule = result.finalize_reason;
  recordDecision(story, { kind: 'guardrail', rule, action, why: WHY_FINAL[rule], step_id: null, fingerprint: null });
}

type Judged = ReturnType<typeof judge>;

/** The guardrails decide again after the answer, because an override may have arrived while the person decided. */
function judgeAfterAnswer(story: Story, review: ReviewReport, before: Judged, answer: QuestionOutcome): Judged {
  const { guard } = story.state;
  switch (answer.decision) {
    case 'retry':
    case 'correct':
      return judge(story, review, {
        override_fatigue: true,
        override_max_reruns: true,
        override_by: answer.by,
        override_reason: answer.text,
      });
    default:
      // A person who stops the run stops it, also when somebody else's override has arrived. Without an answer it counts.
      if (answer.kind !== 'answered') return judge(story, review, {});
      return { ...before, state: { ...before.state, overrides: guard.overrides } };
  }
}

/** Each override that let this pass be followed by another one is recorded as a person's correction, with who and why. */
function recordSpentOverrides({ state, ports, outbox }: Story): void {
  const { loop_id } = state.loop;
  const spent = state.guard.overrides.entries.filter(({ spent_by }) => spent_by === loop_id);
  for (const { override_by: by, override_reason: text } of spent) recordOverride(state, { by, text }, ports.now());
  if (spent.length > 0) outbox.start();
}

function askForOneMore(
  story: Story,
  { alignment_score: alignment, drift_score: drift }: ReviewReport,
  missed: string[],
  { decision_result: decision }: LoopAnswer,
): Promise<QuestionOutcome> {
  const reason = decision.decision === 'finalize' ? decision.finalize_reason : '';
  return askHuman(story, {
    kind: 'pass',
    step: null,
    text: `Pass ${story.state.loop.loop_id} has alignment ${alignment} and drift ${drift}, and ${reason} would end the run. Start one more pass?`,
    tried: describePasses(story.state, missed),
    options: ['retry', 'correct', 'stop'],
  });
}

function judge({ state, ports }: Story, review: ReviewReport, flags: Record<string, Json>) {
  const { loop_id } = state.loop;
  const report = { loop_id, reflection_status: 'done', reflection_result: review, ...flags };
  const judged = completeLoop(state.guard, report, state.run.policy, isoTime(ports.now()), {
    // Only the run itself reports its loops, so the loop's id is enough to identify the report.
    bodyHash: loop_id,
    biasElsewhere: state.run.memory.bias_elsewhere ?? {},
  });
  // The run reports its own loops in order, so a refusal is a bug.
  if (!judged.ok) throw new RangeError(judged.detail);
  return judged;
}

function keepBest(state: RunState, review: ReviewReport, now: number): void {
  const { best } = state.earlier;
  const isBetter =
    best === null ||
    review.alignment_score > best.alignment_score ||
    (review.alignment_score === best.alignment_score && review.drift_score <= best.drift_score);
  // An equal review keeps the later result, but the run has come no further.
  const isProgress = best !== null && isBetter && !isEqual(best, review);
  if (isProgress) noteProgressAt(state, now);
  if (isBetter) state.earlier.best = { ...scores(review), result: resultOfLoop(state) };
}

const isEqual = (one: ReturnType<typeof scores>, other: ReturnType<typeof scores>): boolean =>
  one.alignment_score === other.alignment_score && one.drift_score === other.drift_score;

const scores = ({ alignment_score, drift_score }: ReviewReport) => ({ alignment_score, drift_score });
