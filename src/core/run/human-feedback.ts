import { isoTime } from '../../protocol/time.ts';
import { CAP } from '../../protocol/caps.ts';
import { detectFeedback } from '../feedback/detect.ts';
import { refinePrompt } from '../feedback/refine.ts';
import { keepLatest } from './outbox.ts';
import { type Subject, subjectOf } from './attempts.ts';
import { recordNotice } from './read-failures.ts';
import type { RunState } from './state.ts';

export interface FeedbackEffect {
  feedback_type: string | null;
  confidence: number;
  effect: string;
}

/**
 * Takes what a person said during the run. A rejection or a partial success is a correction and is remembered like a
 * failure; what was detected in the words also refines the goal that the planner sees. Everything else is kept as said.
 */
export function takeFeedback(state: RunState, { text, by }: { text: string; by: string }, now: number): FeedbackEffect {
  const detected = detectFeedback(text);
  const type = detected.feedback_type;
  const { feedback } = state.people;
  const index = feedback.length;
  feedback.push({ text, by, feedback_type: type, at: now });
  emptyOldest(feedback, CAP.feedbackChars);
  if (type === null) return { feedback_type: null, confidence: 0, effect: 'kept for the next planning turn' };

  const isRefined = refineGoal(state, text, index, now);
  const isCorrection = type === 'user_rejection' || type === 'partial_success';
  if (isCorrection) recordFeedback(state, index, now);
  const effects = [
    ...(isCorrection ? ['recorded as a human_correction'] : []),
    ...(isRefined && state.run.planner === 'chooses' ? ['the goal of the next planning turn says it'] : []),
  ];
  const effect = effects.length === 0 ? 'kept for the next planning turn' : effects.join('; ');
  return { feedback_type: type, confidence: detected.confidence, effect };
}

/** Refines the goal as it stands now, so that two feedbacks add up. Every iteration is logged. */
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

function recordFeedback(state: RunState, index: number, now: number): void {
  const subject = subjectOfFeedback(state);
  const notice = {
    signal_type: 'human_correction',
    kind: 'correction',
    error_code: 'CORRECTED',
    tool_name: subject.tool === '' ? null : subject.tool,
    index,
    isFeedback: true,
  } as const;
  recordNotice(state, subject, notice, now);
}

/** The step under way, else the last one that ended, else the start of the run. */
function subjectOfFeedback({ loop }: RunState): Subject {
  const step = loop.batch.findLast(({ kind }) => kind === 'tool') ?? loop.steps.at(-1);
  return step === undefined ? { step_id: 0, phase: 'start', tool: '', attempt: 0 } : subjectOf(step);
}

/** Empties the oldest texts beyond the cap; they are in the history. Entries stay, because their number is limited too. */
function emptyOldest(feedback: RunState['people']['feedback'], chars: number): void {
  let room = chars;
  for (const kept of feedback.toReversed()) {
    room -= kept.text.length;
    if (room < 0) kept.text = '';
  }
}
