import { CAP } from '../../protocol/caps.ts';
import { buildLoopTrace } from '../guardrails/loop-trace.ts';
import { type Attempt, statusOfStep, type Step, type StepStatus, summarizeFailure } from './attempts.ts';
import type { RunState } from './state.ts';

/** One sentence for each failed attempt of a step, for a person who has to decide about it. */
export const describeAttempts = (step: Step): string[] =>
  step.attempts.flatMap((attempt) => describeAttempt(attempt) ?? []);

function describeAttempt({ n, waited_ms, guidance, answer, outcome }: Attempt): string | null {
  if (outcome?.class !== 'failed') return null;
  const how = [
    ...(answer === undefined ? [] : [`allowed by ${answer.by ?? 'a person'}`]),
    ...(waited_ms > 0 ? [`after a wait of ${formatMs(waited_ms)}`] : []),
    ...(guidance === undefined || guidance.rows.length === 0 ? [] : ['with guidance']),
  ];
  const said = `${outcome.error_code}: ${outcome.message_preview}`;
  const ended = {
    not_started: `did not start (${said})`,
    failed: `failed (${said})`,
    unknown: `ended without a clear answer (${said})`,
    done: `took effect, but its output cannot be used (${said})`,
  }[outcome.certainty];
  return cut(`Attempt ${n}${how.length === 0 ? '' : `, ${how.join(', ')},`} ${ended}.`);
}

/** The latest calls of the same tool in this pass. A person who has to approve a call should know them. */
export const describeEarlierCalls = ({ loop }: RunState, step: Step): string[] =>
  loop.steps
    .filter((earlier) => earlier.call.tool === step.call.tool)
    .slice(-EARLIER_CALLS)
    .map((earlier) => {
      const { error_code: code, message_preview: said } = summarizeFailure(earlier);
      const why = [code, said].filter((text) => text !== undefined && text !== '').join(': ');
      const status = STATUS[statusOfStep(earlier)];
      return cut(`Step ${earlier.step_id} called the same tool before and ${status}${why === '' ? '' : ` (${why})`}.`);
    });
const EARLIER_CALLS = 5;

const STATUS: Record<StepStatus, string> = {
  ok: 'succeeded',
  failed: 'failed',
  skipped: 'was left out',
  denied: 'was denied',
  timed_out: 'did not run, because nobody answered in time',
  policy: 'did not run, because no question was left',
  cancelled: 'was cancelled',
  guided: 'did not run, because it repeated itself',
  unknown: 'may have taken effect',
};

/** How the earlier passes were judged, and what the review of the latest one missed. */
export function describePasses({ guard }: RunState, missed: readonly string[]): string[] {
  const judged = buildLoopTrace(guard).flatMap(({ loop_id, alignment_score, drift_score, rerun_reason_detail }) =>
    alignment_score === null
      ? []
      : [
          cut(
            `Pass ${loop_id} had alignment ${alignment_score} and drift ${drift_score}${rerun_reason_detail === null ? '' : `: ${rerun_reason_detail}`}.`,
          ),
        ],
  );
  return [...judged.slice(-EARLIER_CALLS), ...missed.slice(0, EARLIER_CALLS).map((text) => cut(`Missed: ${text}`))];
}

const formatMs = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toFixed(1))} s`);
const cut = (text: string): string => text.slice(0, CAP.messagePreviewChars);
