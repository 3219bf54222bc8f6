import type { Json } from '../../protocol/json.ts';
import type { DetectedFeedback } from '../../protocol/tools.ts';
import { detectFeedback } from '../feedback/detect.ts';
import type { RunState } from './state.ts';

/**
 * A failure that a model's own final answer reports ("2 tests failed"). A model that says so may still have done what was
 * asked, so it is for whoever judges the pass, and never a failure by itself.
 */
export function answerFeedback({ run, loop }: RunState): DetectedFeedback | null {
  if (run.model === null || loop.output === null) return null;
  const { feedback_type: type, confidence, matches } = detectFeedback(textsIn(loop.output).join('\n'));
  if (type !== 'verification_failure' && type !== 'runtime_error') return null;
  return {
    feedback_type: type,
    confidence,
    signal: matches.find((match) => match.feedback_type === type)?.text ?? '',
  };
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
