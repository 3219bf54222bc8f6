import { hashOfJson } from '../../protocol/ids.ts';
import { detectBiasEcho, distinctTags } from './bias-echo.ts';
import type { BiasCounts } from './bias-echo.ts';
import { decideAfterReview } from './decision.ts';
import { scoreFatigue } from './fatigue.ts';
import { isSamePolicy, mergeGuardPolicy } from './guard-policy.ts';
import { announced, currentLoop, openFamily, rerunCount, withCurrentLoop } from './guard-state.ts';
import type { GuardPolicy, GuardState, Review, Ruling, LoopVerdict } from './guard-state.ts';
import { buildLoopAnswer } from './loop-answer.ts';
import type { AnsweredLoop, LoopAnswer } from './loop-answer.ts';
import { familyOf, rerunId } from './loop-ids.ts';
import { checkReport } from './loop-report.ts';
import type { LoopReport, ReviewReport } from './loop-report.ts';
import { coverLimits, coveredBy, settleOverrides } from './override-spending.ts';
import type { LiftableLimit } from './overrides.ts';
import { describeRerun } from './reasoning.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { checkRerunLimit } from './rerun-limit.ts';

export interface CompleteOptions {
  /** Hash of the original body, if a review was added to it afterwards. */
  bodyHash?: string;
  /** Counts of the tags in all other families. Needed only if the policy's bias scope is `global`. */
  biasElsewhere?: BiasCounts;
  /** Replaces the text `Triggered by …`. */
  reasonDetail?: string;
}

export interface Completed {
  ok: true;
  state: GuardState;
  answer: LoopAnswer;
  /** True if the same report was answered before. Then the state is unchanged. */
  repeated: boolean;
}

/**
 * Returns the answer that this loop's report has already had, or why it is refused; null if the report is new and
 * expected. Called before costly work such as asking a reviewer. Without a state, the report opens the family.
 */
export function findEarlierAnswer(
  state: GuardState | null,
  loopId: string,
  bodyHash: string,
): AnsweredLoop | Refusal | null {
  if (state === null) return null;
  if (familyOf(loopId) !== state.family) {
    return refuse('other_family', `${loopId} belongs to another family than ${state.family}.`);
  }
  const known = state.loops.find((loop) => loop.loop_id === loopId);
  if (known?.verdict) {
    return known.verdict.body_hash === bodyHash
      ? buildLoopAnswer(state, loopId)
      : refuse('other_body', `${loopId} was already reported with another body; its decision stands.`);
  }
  if (state.ended !== null) return refuse('ended', `The family ${state.family} has ended; start a new one.`);
  const due = currentLoop(state).loop_id;
  return loopId === due ? null : refuse('out_of_order', `${loopId} is out of order; the loop to report is ${due}.`);
}

/** Answers the report of a loop, exactly once per loop. A refusal changes nothing. */
export function completeLoop(
  state: GuardState | null,
  report: LoopReport,
  familyPolicy: GuardPolicy,
  at: string,
  options: CompleteOptions = {},
): Completed | Refusal {
  const errors = checkReport(report);
  if (errors.length > 0) return refuse('invalid_report', 'Correct the named fields and report again.', errors);
  const bodyHash = options.bodyHash ?? hashOfJson(report);
  const before = findEarlierAnswer(state, report.loop_id, bodyHash);
  if (before?.ok === false) return before;
  if (before !== null && state !== null) return { ok: true, state, answer: before.answer, repeated: true };
  if (state !== null && report.policy !== undefined && !isSamePolicy(familyPolicy, report.policy)) {
    return refuse('policy_fixed', 'The first report has fixed the policy of the family; leave it out.');
  }
  const policy = mergeGuardPolicy(familyPolicy, report.policy);
  const { max_reruns: maxReruns = policy.reruns.max_reruns, reflection_result: reviewed } = report;
  if (state !== null && report.max_reruns !== undefined && report.max_reruns !== state.max_reruns) {
    return refuse(
      'max_reruns_fixed',
      `max_reruns is ${state.max_reruns} since the family's first report; leave it out.`,
    );
  }
  if (reviewed === undefined) return refuse('review_missing', 'Send a reflection_result: no reviewer is set here.');
  const limits = { max_reruns: maxReruns, max_overrides: policy.humans.max_overrides };
  const opened = state === null ? openFamily(report.loop_id, limits, at) : { ok: true as const, state };
  if (!opened.ok) return opened;
  const next = judge(opened.state, report, reviewed, policy, { ...options, bodyHash, at });
  const answered = buildLoopAnswer(next, report.loop_id);
  return answered.ok ? { ...answered, state: next, repeated: false } : answered;
}

function judge(
  state: GuardState,
  report: LoopReport,
  reviewed: ReviewReport,
  policy: GuardPolicy,
  context: CompleteOptions & { bodyHash: string; at: string },
): GuardState {
  const { at } = context;
  const loop = currentLoop(state);
  const earlier = state.loops.flatMap((entry) => (entry.verdict === null ? [] : [entry.verdict]));
  const previous = earlier.at(-1) ?? null;
  const review = completeReview(reviewed);
  const bias = detectBiasEcho(
    distinctTags(reviewed.bias_tags),
    earlier.map((verdict) => Object.keys(verdict.repetition_counts)),
    policy.bias.scope === 'global' ? (context.biasElsewhere ?? null) : null,
    policy.bias.repetition_threshold,
  );
  const tired = scoreFatigue(review, previous?.review ?? null, previous?.reflection_fatigue ?? 0, policy.fatigue);

  const blocking = findBlockingLimits(state, tired.threshold_exceeded && policy.mode === 'enforce');
  const coverage = coverLimits(state.overrides, blocking, report);
  const overriddenBy = coveredBy(coverage, report);
  const limitLiftedBy = coverage.covered.includes('max_reruns') ? overriddenBy : null;
  const limit = checkRerunLimit(rerunCount(state), state.max_reruns, limitLiftedBy);
  const fatigue = { ...tired, force_finalize: tired.force_finalize && !coverage.covered.includes('fatigue') };
  const decision = decideAfterReview(review, { bias, limit, fatigue }, policy.reruns, policy.mode);
  const rerun = decision.decision === 'rerun';

  const ruling: Ruling = rerun
    ? {
        decision: 'rerun',
        rerun_reason: decision.rerun_reason,
        rerun_reason_detail: context.reasonDetail ?? describeRerun(decision.rerun_trigger, decision.observed),
        new_loop_id: rerunId(state.family, rerunCount(state) + 1),
        overridden_by: overriddenBy,
      }
    : { decision: 'finalize', finalize_reason: decision.finalize_reason, force_finalize: decision.force_finalize };
  const verdict: LoopVerdict = {
    at,
    body_hash: context.bodyHash,
    orchestrator_persona: report.orchestrator_persona ?? null,
    review,
    repeated_tags: bias.repeated_tags,
    repetition_counts: bias.repetition_counts,
    reflection_fatigue: tired.reflection_fatigue,
    fatigue_increased: tired.fatigue_increased,
    fatigue_threshold_exceeded: tired.threshold_exceeded,
    rerun_trigger: decision.rerun_trigger,
    ruling,
  };
  const settled = { rerun, loopId: loop.loop_id, blocking, at };
  const judged: GuardState = {
    ...withCurrentLoop(state, { reviewing: false, verdict }),
    overrides: settleOverrides(state.overrides, coverage, settled, report),
  };
  return ruling.decision === 'rerun'
    ? { ...judged, loops: [...judged.loops, announced(ruling.new_loop_id, at)] }
    : { ...judged, ended: { at, finalize_reason: ruling.finalize_reason, force_finalize: ruling.force_finalize } };
}

const completeReview = (reviewed: ReviewReport): Review => ({
  alignment_score: reviewed.alignment_score,
  drift_score: reviewed.drift_score,
  summary_valid: reviewed.summary_valid ?? true,
  reflection_persona: reviewed.reflection_persona ?? null,
});

function findBlockingLimits(state: GuardState, tooTired: boolean): LiftableLimit[] {
  const blocking: LiftableLimit[] = [];
  if (rerunCount(state) >= state.max_reruns) blocking.push('max_reruns');
  if (tooTired) blocking.push('fatigue');
  return blocking;
}
