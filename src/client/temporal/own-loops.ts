import type { OverrideAnswer } from '../../core/guardrails/family-overrides.ts';
import type { GuardrailsStatus } from '../../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import type { GuardTrace } from '../../core/guardrails/loop-guard.ts';
import type { LoopReport } from '../../core/guardrails/loop-report.ts';
import type { ReasonedTraceItem } from '../../core/guardrails/loop-trace.ts';
import type { OverrideRequest } from '../../core/guardrails/overrides.ts';
import { answerFromTrace, statusFromTrace } from '../../core/guardrails/trace-views.ts';
import { GuardRefusedError } from '../guard-errors.ts';
import type { Runs } from '../secondwind-client.ts';

/** A run decides about its own passes. Callers can read its decisions and override them. */
export type OwnLoops = Pick<Runs, 'trace' | 'override' | 'overrides'>;

const ASK_AGAIN_MS = 250;

/** Waits for the run's decision about a pass. After `waitMs` it throws that the pass is still running. */
export async function awaitOwnDecision(
  runs: OwnLoops,
  runId: string,
  report: LoopReport,
  waitMs: number,
): Promise<LoopAnswer> {
  refuseJudgement(report);
  const until = Date.now() + waitMs;
  for (;;) {
    const trace = await runs.trace(runId);
    const answer = answerFromTrace(trace, report.loop_id);
    if (answer !== null) {
      checkRerunLimit(report, trace);
      return { ...answer, orchestrator_persona: report.orchestrator_persona ?? answer.orchestrator_persona };
    }
    refuseIfNeverDecided(trace, report.loop_id);
    checkRerunLimit(report, trace);
    const left = until - Date.now();
    if (left <= 0) {
      const detail = `${report.loop_id} has no decision yet: the run ${runId} is still working on it.`;
      throw new GuardRefusedError({ problem: 'loop_running', detail });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, ASK_AGAIN_MS)));
  }
}

function refuseJudgement(report: LoopReport): void {
  const only = (path: string): never => {
    const message = 'leave it out, because this loop belongs to a run that reviews and decides by itself';
    throw new GuardRefusedError({ problem: 'invalid_report', detail: message, errors: [{ path, message }] });
  };
  if (report.reflection_result !== undefined) only('$.reflection_result');
  if (report.override_fatigue === true) only('$.override_fatigue');
  if (report.override_max_reruns === true) only('$.override_max_reruns');
}

function checkRerunLimit({ max_reruns: wanted }: LoopReport, [first]: readonly ReasonedTraceItem[]): void {
  if (wanted === undefined || first === undefined || wanted === first.max_reruns) return;
  const detail = `max_reruns of this run was set to ${first.max_reruns} at its start and cannot be changed; leave it out.`;
  throw new GuardRefusedError({ problem: 'max_reruns_fixed', detail });
}

function refuseIfNeverDecided(trace: readonly ReasonedTraceItem[], loopId: string): void {
  const item = trace.find((candidate) => candidate.loop_id === loopId);
  const hasEnded = trace.at(-1)?.status === 'finalized';
  if (hasEnded) {
    const detail = `The run of ${loopId} has ended, and no decision was made about this loop.`;
    throw new GuardRefusedError({ problem: item === undefined ? 'unknown_loop' : 'ended', detail });
  }
  if (item === undefined) {
    const due = trace.at(-1)?.loop_id ?? '';
    throw new GuardRefusedError({
      problem: 'out_of_order',
      detail: `${loopId} is out of order; the run is at ${due}.`,
    });
  }
}

export async function readOwnStatus(runs: OwnLoops, runId: string, loopId: string): Promise<GuardrailsStatus> {
  const status = statusFromTrace(await runs.trace(runId), loopId);
  if (status === null) throw unknownLoop(loopId, runId);
  return status;
}

export async function readOwnTrace(runs: OwnLoops, runId: string): Promise<GuardTrace> {
  const [trace, overrides] = await Promise.all([runs.trace(runId), runs.overrides(runId)]);
  return { trace, overrides };
}

export async function overrideOwnLoop(
  runs: OwnLoops,
  runId: string,
  loopId: string,
  body: OverrideRequest,
): Promise<OverrideAnswer> {
  const trace = await runs.trace(runId);
  if (!trace.some((item) => item.loop_id === loopId)) throw unknownLoop(loopId, runId);
  return { ...(await runs.override(runId, body)), loop_id: loopId };
}

const unknownLoop = (loopId: string, runId: string) =>
  new GuardRefusedError({ problem: 'unknown_loop', detail: `${loopId} is not a loop of the run ${runId}.` });
