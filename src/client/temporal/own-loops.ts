import type { GuardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../core/guardrails/loop-answer.ts';
import type { OverrideAnswer } from '../core/guardrails/family-overrides.ts';
import type { ReasonedTraceItem } from '../core/guardrails/loop-trace.ts';
import { answerFromTrace, statusFromTrace } from '../core/guardrails/trace-views.ts';
import { errorsOfReport, type LoopReport } from '../core/guardrails/loop-report.ts';
import type { MessageAnswer } from '../core/run/messages.ts';
import { refused } from './guards/complete-loop.ts';

/** What the loops of our own runs can be asked: a run decides by itself, so nothing here tells it anything but overrides. */
export interface OwnLoops {
  trace(runId: string): Promise<ReasonedTraceItem[]>;
  override(runId: string, body: unknown): Promise<MessageAnswer>;
}

const ASK_AGAIN_MS = 250;

/** The decision that the run made about its loop; waits for it, and then says that the loop is still running. */
export async function decisionOfOwnLoop(
  runs: OwnLoops,
  runId: string,
  body: unknown,
  waitMs: number,
): Promise<LoopAnswer> {
  const report = checkedQuestion(body);
  const until = Date.now() + waitMs;
  for (;;) {
    const trace = await runs.trace(runId);
    const answer = answerFromTrace(trace, report.loop_id);
    if (answer !== null) {
      checkRerunLimit(report, trace);
      return { ...answer, orchestrator_persona: report.orchestrator_persona ?? answer.orchestrator_persona };
    }
    refuseWhatNeverComes(trace, report.loop_id);
    checkRerunLimit(report, trace);
    const left = until - Date.now();
    if (left <= 0) {
      const detail = `${report.loop_id} has no decision yet: the run ${runId} is still at it.`;
      throw refused({ problem: 'loop_running', detail });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, ASK_AGAIN_MS)));
  }
}

function checkedQuestion(body: unknown): LoopReport {
  const errors = errorsOfReport(body);
  if (errors.length > 0) throw refused({ problem: 'invalid_report', detail: 'The report cannot be read.', errors });
  const report = body as LoopReport;
  const only = (path: string): never => {
    const message = 'leave it out: this loop belongs to a run that reviews and decides by itself';
    throw refused({ problem: 'invalid_report', detail: message, errors: [{ path, message }] });
  };
  if (report.reflection_result !== undefined) only('$.reflection_result');
  if (report.override_fatigue === true) only('$.override_fatigue');
  if (report.override_max_reruns === true) only('$.override_max_reruns');
  return report;
}

function checkRerunLimit({ max_reruns: wanted }: LoopReport, [first]: readonly ReasonedTraceItem[]): void {
  if (wanted === undefined || first === undefined || wanted === first.max_reruns) return;
  const detail = `max_reruns of this run is ${first.max_reruns} since its start; leave it out.`;
  throw refused({ problem: 'max_reruns_fixed', detail });
}

function refuseWhatNeverComes(trace: readonly ReasonedTraceItem[], loopId: string): void {
  const item = trace.find((candidate) => candidate.loop_id === loopId);
  const hasEnded = trace.at(-1)?.status === 'finalized';
  if (hasEnded) {
    const detail = `The run of ${loopId} has ended, and no decision was made about this loop.`;
    throw refused({ problem: item === undefined ? 'unknown_loop' : 'ended', detail });
  }
  if (item === undefined) {
    const due = trace.at(-1)?.loop_id ?? '';
    throw refused({ problem: 'out_of_order', detail: `${loopId} is out of order; the run is at ${due}.` });
  }
}

export async function statusOfOwnLoop(runs: OwnLoops, runId: string, loopId: string): Promise<GuardrailsStatus> {
  const status = statusFromTrace(await runs.trace(runId), loopId);
  if (status === null) throw unknownLoop(loopId, runId);
  return status;
}

export async function overrideOwnLoop(
  runs: OwnLoops,
  runId: string,
  loopId: string,
  body: unknown,
): Promise<OverrideAnswer> {
  const trace = await runs.trace(runId);
  if (!trace.some((item) => item.loop_id === loopId)) throw unknownLoop(loopId, runId);
  const answer = await runs.override(runId, body);
  return { ...(answer as unknown as OverrideAnswer), loop_id: loopId };
}

const unknownLoop = (loopId: string, runId: string) =>
  refused({ problem: 'unknown_loop', detail: `${loopId} is no loop of the run ${runId}.` });
