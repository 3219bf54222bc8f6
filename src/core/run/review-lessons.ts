import { CAP } from '../../protocol/caps.ts';
import { canonicalJson } from '../../protocol/ids.ts';
import { REVIEW } from '../../protocol/names.ts';
import { isWithheld } from '../lessons/assignment.ts';
import { lessonFromReview } from '../lessons/review-lesson.ts';
import { buildLoopTrace } from '../guardrails/loop-trace.ts';
import { keepLatest } from './outbox.ts';
import { ownTexts } from './make-lesson.ts';
import type { RunState } from './state.ts';
import { withheldShareOf } from './trials.ts';

/**
 * Learns from a pass that is good enough after one that was not: what the reviewer missed then, with the measured gain. Built-in
 * rules only count failed steps, and those teach lessons of their own.
 */
export function learnFromReview(state: RunState, score: number): void {
  const { run, loop, outbox } = state;
  const { rerun } = loop;
  const { scope, similarity_threshold } = run.policy.memory;
  if (rerun === undefined || run.reviewer === 'rules' || scope === 'run') return;
  const before = buildLoopTrace(state.guard).find(({ loop_id }) => loop_id === rerun.of)?.alignment_score ?? null;
  if (before === null) return;
  const inputs = loop.steps.map(({ call }) => canonicalJson(call.input));
  const lesson = lessonFromReview({
    missed: rerun.missed,
    score_before: before,
    score_after: score,
    goal: run.goal.slice(0, CAP.messagePreviewChars),
    context: `the review of pass ${rerun.of}`,
    iteration: state.guard.loops.length,
    own_texts: [...ownTexts(state, null).texts, ...inputs],
  });
  if (lesson === null) return;
  const { error_type, error_signature, content, context, query, iteration, quality_delta } = lesson;
  outbox.lessons.push({
    occurrence_id: `${run.run_id}:${loop.loop_id}:review`,
    scope: scope === 'global' ? 'global' : 'agent',
    error_type,
    fingerprint: `review:${error_signature}`,
    content,
    context,
    query,
    iteration,
    quality_delta,
    tools: [REVIEW],
    similarity_threshold,
  });
  keepLatest(outbox.lessons, CAP.outboxRecords);
}

/** Queues for each lesson of reviews whether the first pass was good enough, shown or withheld. Later passes do not count. */
export function readReviewTrials(state: RunState, isGoodEnough: boolean): void {
  const { run, lessons, loop, outbox } = state;
  if (loop.rerun !== undefined || run.policy.mode === 'observe') return;
  const tried = (lessons.tried ??= []);
  for (const lesson of lessons.known) {
    const { reflection_id, tools, trial } = lesson;
    const share = withheldShareOf(state, lesson);
    if (trial === undefined || share === 0 || !tools.includes(REVIEW) || tried.includes(reflection_id)) continue;
    tried.push(reflection_id);
    outbox.lesson_uses.push({
      use_id: `${run.run_id}:trial:l${reflection_id}`,
      reflection_id,
      run_id: run.run_id,
      succeeded: isGoodEnough,
      trial: {
        phase: trial.phase,
        shown: !isWithheld(run.run_id, reflection_id, share),
        share_shown: 1 - share,
        first_ok: isGoodEnough,
        attempts: 1,
        same_again: !isGoodEnough,
      },
    });
  }
  keepLatest(outbox.lesson_uses, CAP.outboxUses);
}
