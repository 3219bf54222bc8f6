import { decideCertainty } from '../../core/retry/certainty.ts';
import { classifyError } from '../../core/retry/classify-error.ts';
import { readErrorFacts } from '../../core/retry/read-error-facts.ts';
import { validationFailed } from '../../core/retry/log-events.ts';
import type { Tool } from '../../define/define-tool.ts';
import { readStatedCertainty } from '../../define/tool-error.ts';
import { CAP } from '../../protocol/caps.ts';
import type { CallFailed, CallOutcome } from '../../protocol/tools.ts';
import type { LogEvent, ToolEnvironment } from './tool-environment.ts';
import { preview } from './shorten-text.ts';
import { exitCodeOf, readErrorDetails, readFailedOutput } from './error-details.ts';

export type BuildFailure = (
  how: Pick<CallFailed, 'category' | 'error_code' | 'certainty'> & Partial<CallFailed>,
  message: string,
  problems?: { path: string }[],
) => CallFailed;

export const failureBuilder =
  (env: ToolEnvironment, duration: () => number): BuildFailure =>
  (how, message, problems) => ({
    class: 'failed',
    origin: 'tool',
    ...how,
    message_preview: preview(message, env.redact),
    ...(problems === undefined ? {} : { paths: problems.slice(0, 10).map((problem) => problem.path.slice(0, 120)) }),
    duration_ms: Math.max(0, duration()),
  });

/** A worker that shuts down ends its process, and with it a tool that did not stop, within this time. */
const PROCESS_END_MS = 10_000;

export function classifyThrown(
  { error, running }: { error: unknown; running?: true },
  tool: Tool,
  env: ToolEnvironment,
  fail: BuildFailure,
  log: (event: LogEvent) => void,
): CallOutcome {
  const stopped = env.stopped();
  const lost = { category: 'worker_lost', error_code: 'WORKER_SHUTDOWN', origin: 'infrastructure' } as const;
  const stated = readStatedCertainty(error, tool.name);
  if (stopped === 'shutdown') {
    const certainty = stated === 'not_started' ? stated : 'unknown';
    const late = running === true && tool.effect === 'side_effect' ? { may_act_ms: PROCESS_END_MS } : {};
    return fail({ ...lost, certainty, ...late }, `the worker shut down while ${tool.name} was running`);
  }
  if (stopped === 'cancelled') return { class: 'cancelled', duration_ms: 0 };
  const facts = readErrorFacts(error);
  const guessed = classifyError(facts, env.now());
  const classified = { ...guessed, certainty: decideCertainty(tool.effect, stated, guessed.certainty) };
  const told = readErrorDetails(error, env.redact);
  const exit_code = exitCodeOf(error);
  const isValidation = classified.category.startsWith('validation_');
  // A failure report that cannot be parsed also counts as a failed validation.
  if (isValidation || (classified.category === 'contract_violation' && exit_code !== null)) {
    log(validationFailed({ ...classified, exit_code, missing: told.missed }));
  }
  return fail({ ...classified, ...told }, facts.message || facts.name || 'the tool threw nothing readable');
}

/**
 * Builds the failure of a call that timed out. The effect is unknown unless the tool's own error says that nothing was
 * sent. A side effect that has not even stopped may still happen.
 */
export function buildTimeoutFailure(
  { error, running }: { error?: unknown; running?: true },
  tool: Tool,
  timeoutMs: number,
  fail: BuildFailure,
): CallFailed {
  const facts = readErrorFacts(error);
  const nothingSent = facts.request_sent === false || facts.certainty === 'not_started';
  const stated = readStatedCertainty(error, tool.name);
  const certainty = decideCertainty(tool.effect, stated, nothingSent ? 'not_started' : 'unknown');
  const isLate = running === true && tool.effect === 'side_effect';
  const late = isLate ? ` and was still running ${CAP.lateEffectMs / 1_000} s later` : '';
  const message = `${tool.name} gave no answer within ${timeoutMs} ms${late}`;
  const how = { category: 'timeout', error_code: 'TIMEOUT', certainty } as const;
  return fail({ ...how, ...(isLate && { still_running: true }), ...readFailedOutput(error) }, message);
}
