import { CAP } from '../../protocol/caps.ts';
import { toolCallId } from '../../protocol/ids.ts';
import { isoTime } from '../../protocol/time.ts';
import type { Step } from './attempts.ts';
import { keepLatest } from './outbox.ts';
import type { RunState } from './state.ts';

/**
 * Queues an entry of the feedback log for each new attempt whose prompt was refined because of what the output of an earlier
 * attempt said, with whether the attempt succeeded.
 */
export function readRefinements({ run, outbox }: RunState, step: Step): void {
  for (const { n, at, outcome } of step.attempts.slice(step.attempts_read)) {
    if (outcome === null || outcome.class === 'cancelled' || outcome.prompt?.actions === undefined) continue;
    const { original_id, enhanced_id, actions } = outcome.prompt;
    const reason = step.attempts.findLast((before) => before.n < n && before.record !== undefined)?.outcome;
    const detected = reason?.class === 'failed' ? reason.detected : undefined;
    if (detected === undefined) continue;
    outbox.feedback.push({
      entry_id: `${toolCallId(run.run_id, step.step_id, n)}:refined`,
      run_id: run.run_id,
      timestamp: isoTime(at),
      original_prompt: '',
      feedback_type: detected.feedback_type,
      feedback_signal: detected.signal,
      actions_applied: actions,
      refined_prompt: '',
      iteration: n - 1,
      success: outcome.class === 'ok',
      source: 'tool_output',
      prompts: { original_id, refined_id: enhanced_id },
    });
  }
  keepLatest(outbox.feedback, CAP.outboxRecords);
}
