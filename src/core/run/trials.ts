import { CAP } from '../../protocol/caps.ts';
import type { LessonOutcome, RunLesson } from '../../protocol/lessons.ts';
import { isWithheld, shareWithheld } from '../lessons/assignment.ts';
import { isAboutTools } from '../lessons/rank-lessons.ts';
import type { Attempt, Step } from './attempts.ts';
import { keepLatest } from './outbox.ts';
import type { RunState } from './state.ts';

export const withheldShareOf = ({ run }: RunState, lesson: RunLesson): number =>
  shareWithheld(lesson.trial, run.policy.memory.holdout);

/** Whether this run does not see a lesson that it knows, so that the effect of the lesson can be measured. */
export const isWithheldHere = (state: RunState, lesson: RunLesson): boolean =>
  isWithheld(state.run.run_id, lesson.reflection_id, withheldShareOf(state, lesson));

/**
 * Queues how the first step went that a lesson on trial speaks about, whether the lesson was shown or withheld. Each lesson
 * counts once per run. Call it before recalled lessons are taken from the attempts.
 */
export function readTrials(state: RunState, step: Step): void {
  // In `observe` mode nothing is shown, so there is nothing to compare.
  if (step.kind === 'planner' || state.run.policy.mode === 'observe') return;
  if (step.end?.kind !== 'ok' && step.end?.kind !== 'failed') return;
  const { lessons, outbox, run } = state;
  const tried = (lessons.tried ??= []);
  if (lessons.known.length === 0 && !step.attempts.some(({ recalled }) => recalled !== undefined)) return;
  for (const { lesson, after } of knownLessons(state, step)) {
    const share = withheldShareOf(state, lesson);
    if (lesson.trial === undefined || share === 0 || tried.includes(lesson.reflection_id)) continue;
    if (!isAboutTools(lesson, [step.call.tool])) continue;
    const outcome = outcomeOf(
      step.attempts.filter(({ n }) => n > after),
      lesson,
    );
    if (outcome === null) continue;
    tried.push(lesson.reflection_id);
    outbox.lesson_uses.push({
      use_id: `${run.run_id}:trial:l${lesson.reflection_id}`,
      reflection_id: lesson.reflection_id,
      run_id: run.run_id,
      succeeded: outcome.first_ok,
      trial: {
        phase: lesson.trial.phase,
        shown: !isWithheld(run.run_id, lesson.reflection_id, share),
        share_shown: 1 - share,
        ...outcome,
      },
    });
  }
  keepLatest(tried, 2 * CAP.lessonsInState);
  keepLatest(outbox.lesson_uses, CAP.outboxUses);
}

/** The lessons that the run knew before the step, and those that it recalled after one of the step's attempts. */
function knownLessons({ lessons }: RunState, { attempts }: Step): { lesson: RunLesson; after: number }[] {
  const known = lessons.known.map((lesson) => ({ lesson, after: 0 }));
  const recalled = attempts.flatMap(({ n, recalled: found = [] }) => found.map((lesson) => ({ lesson, after: n })));
  return [...known, ...recalled];
}

/** A lost worker says nothing about a lesson, so such attempts are left out. */
function outcomeOf(attempts: readonly Attempt[], lesson: RunLesson): LessonOutcome | null {
  const counted = attempts.filter(({ outcome, record }) => outcome?.class === 'ok' || record !== undefined);
  const [first] = counted;
  if (first === undefined) return null;
  return {
    first_ok: first.outcome?.class === 'ok',
    attempts: counted.length,
    same_again: lesson.fingerprint !== null && counted.some(({ record }) => record?.fingerprint === lesson.fingerprint),
  };
}
