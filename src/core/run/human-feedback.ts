import { isoTime } from '../../protocol/time.ts';
import { LIMIT } from '../../protocol/limits.ts';
import { detectFeedback } from '../feedback/detect.ts';
import { refinePrompt } from '../feedback/refine.ts';
import { newStep } from './batch.ts';
import { recordOfNotice } from './failure-records.ts';
import { rememberNotice } from './memory.ts';
import type { RunState, StepInFlight } from './state.ts';

export interface FeedbackEffect {
  feedback_type: string | null;
  confidence: number;
  effect: string;
}

/**
 * What a person said during the run. A rejection or a partial success is a correction, remembered like any failure; what
 * was found in the words also refines the goal that the planner gets to see. Words that say nothing wrong are kept.
 */
export function takeFeedback(state: RunState, { text, by }: { text: string; by: string }, now: number): FeedbackEffect {
  const detected = detectFeedback(text);
  const type = detected.feedback_type;
  const index = state.feedback.length;
  state.feedback.push({ text, by, feedback_type: type, at: now });
  keepWithin(state.feedback, LIMIT.feedbackChars);
  if (type === null) return { feedback_type: null, confidence: 0, effect: 'kept for the next planning turn' };

  const isRefined = refineGoal(state, text, index, now);
  const isCorrection = type === 'user_rejection' || type === 'partial_success';
  if (isCorrection) rememberCorrection(state, index, now);
  const effects = [
    ...(isCorrection ? ['recorded as a human_correction'] : []),
    ...(isRefined && state.run.planner === 'chooses' ? ['the goal of the next planning turn says it'] : []),
  ];
  const effect = effects.length === 0 ? 'kept for the next planning turn' : effects.join('; ');
  return { feedback_type: type, confidence: detected.confidence, effect };
}

/** Refined from the goal as it stands, so that two feedbacks add up; every iteration is logged. */
function refineGoal(state: RunState, text: string, index: number, now: number): boolean {
  const { run, outbox } = state;
  const before = state.refined_goal ?? run.goal;
  const { refined_prompt, iterations } = refinePrompt(before, text, {
    ...run.policy.feedback,
    timestamp: isoTime(now),
  });
  if (refined_prompt.length > LIMIT.refinedGoalChars) return false;
  for (const entry of iterations) {
    outbox.feedback.push({
      ...entry,
      original_prompt: entry.original_prompt.slice(0, LIMIT.textChars),
      refined_prompt: entry.refined_prompt.slice(0, LIMIT.textChars),
      entry_id: `${run.run_id}:feedback:${index}:${entry.iteration}`,
      run_id: run.run_id,
    });
  }
  outbox.feedback.splice(0, Math.max(0, outbox.feedback.length - LIMIT.outboxRecords));
  if (refined_prompt === before) return false;
  state.refined_goal = refined_prompt;
  return true;
}

function rememberCorrection(state: RunState, index: number, now: number): void {
  const step = spokenOf(state);
  const made = recordOfNotice(state, step, now, {
    signal_type: 'human_correction',
    kind: 'correction',
    error_code: 'CORRECTED',
    tool_name: step.tool === '' ? null : step.tool,
    index,
    isFeedback: true,
  });
  rememberNotice(state, made);
}

/** The step under way, else the last one that ended; before the first step nothing in particular. */
function spokenOf(state: RunState): StepInFlight {
  const underWay = state.batch.findLast((step) => step.kind === 'tool');
  if (underWay !== undefined) return underWay;
  const last = state.loop.results.at(-1);
  const call = { plan_index: null, phase: last?.phase ?? 'start', tool: last?.tool ?? '', input: null };
  return newStep('tool', last?.step_id ?? 0, call, 0);
}

/** The latest of what was said; the rest is in the history. Texts are emptied, not removed: their number is limited too. */
function keepWithin(feedback: RunState['feedback'], chars: number): void {
  let room = chars;
  for (const kept of feedback.toReversed()) {
    room -= kept.text.length;
    if (room < 0) kept.text = '';
  }
}
