import { isoTime } from '../../protocol/time.ts';
import { CAP } from '../../protocol/caps.ts';
import { detectFeedback } from '../feedback/detect.ts';
import { refinePrompt } from '../feedback/refine.ts';
import { keepLatest } from './outbox.ts';
import { START, type Subject, subjectOf } from './attempts.ts';
import { recordNotice } from './read-failures.ts';
import type { RunState } from './state.ts';

export interface FeedbackEffect {
  feedback_type: string | null;
  confidence: number;
  effect: string;
}

/**
 * Applies feedback that a person sent during the run. A rejection or a partial success is recorded as a correction,
 * like a failure. If the detector recognises the feedback, it also refines the goal that the planner sees. Other
 * feedback is kept as it is.
 */
export function applyFeedback(
  state: RunState,
  { text, by }: { text: string; by: string },
  now: number,
): FeedbackEffect {
  const detected = detectFeedback(text);
  const type = detected.feedback_type;
  const { feedback } = state.people;
  const index = feedback.length;
  feedback.push({ text, by, feedback_type: type, at: now });
  emptyOldest(feedback, CAP.feedbackChars);
  if (type === null) return { feedback_type: null, confidence: 0, effect: 'kept for the next planning turn' };

  const isRefined = refineGoal(state, text, index, now);
  const isCorrection = type === 'user_rejection' || type === 'partial_success';
  if (isCorrection) recordFeedback(state, { text, by }, index, now);
  const effects = [
    ...(isCorrection ? ['recorded as a human_correction'] : []),
    ...(isRefined && state.run.planner === 'chooses' ? ['added to the goal of the next planning turn'] : []),
  ];
  const effect = effects.length === 0 ? 'kept for the next planning turn' : effects.join('; ');
  return { feedback_type: type, confidence: detected.confidence, effect };
}

/** Adds the feedback to the current goal, so that several messages add up. Logs every iteration. */
function refineGoal(state: RunState, text: string, index: number, now: number): boolean {
  const { run, outbox, people } = state;
  const before = people.refined_goal ?? run.goal;
  const { refined_prompt, iterations } = refinePrompt(before, text, {
    ...run.policy.feedback,
    timestamp: isoTime(now),
  });
  if (refined_prompt.length > CAP.refinedGoalChars) return false;
  for (const entry of iterations) {
    outbox.feedback.push({
      ...entry,
      original_prompt: entry.original_prompt.slice(0, CAP.textChars),
      refined_prompt: entry.refined_prompt.slice(0, CAP.textChars),
      entry_id: `${run.run_id}:feedback:${index}:${entry.iteration}`,
      run_id: run.run_id,
    });
  }
  keepLatest(outbox.feedback, CAP.outboxRecords);
  if (refined_prompt === before) return false;
  people.refined_goal = refined_prompt;
  return true;
}

function recordFeedback(state: RunState, said: { text: string; by: string }, index: number, now: number): void {
  const subject = findSubject(state);
  const notice = {
    signal_type: 'human_correction',
    kind: 'correction',
    error_code: 'CORRECTED',
    tool_name: subject.tool === '' ? null : subject.tool,
    index,
    isFeedback: true,
    said,
  } as const;
  recordNotice(state, subject, notice, now);
}

/**
 * Finds the step that the feedback is about: the step under way, else the last one that ended, else the start of the
 * run.
 */
function findSubject({ loop }: RunState): Subject {
  const step = loop.batch.findLast(({ kind }) => kind === 'tool') ?? loop.steps.at(-1);
  return step === undefined ? START : subjectOf(step);
}

/**
 * Empties the oldest texts beyond the cap; the history still has them. The entries stay, because the policy limits
 * their number.
 */
function emptyOldest(feedback: RunState['people']['feedback'], chars: number): void {
  let room = chars;
  for (const kept of feedback.toReversed()) {
    room -= kept.text.length;
    if (room < 0) kept.text = '';
  }
}
