import { classifyError } from '../../core/retry/classify-error.ts';
import { factsOfError } from '../../core/retry/facts-of-error.ts';
import { validationFailed } from '../../core/retry/log-events.ts';
import type { Tool } from '../../define/define-tool.ts';
import type { CallFailed, CallOutcome } from '../../protocol/tools.ts';
import type { LogEvent, ToolEnvironment } from './environment.ts';
import { preview } from './text.ts';
import { exitCodeOf, toldByError } from './told-by-error.ts';

export type Failer = (
  how: Pick<CallFailed, 'category' | 'error_code' | 'certainty'> & Partial<CallFailed>,
  message: string,
  problems?: { path: string }[],
) => CallFailed;

export const failer =
  (env: ToolEnvironment, duration: () => number): Failer =>
  (how, message, problems) => ({
    class: 'failed',
    origin: 'tool',
    ...how,
    message_preview: preview(message, env.redact),
    ...(problems === undefined ? {} : { paths: problems.slice(0, 10).map((problem) => problem.path.slice(0, 120)) }),
    duration_ms: Math.max(0, duration()),
  });

export function outcomeOfThrown(
  error: unknown,
  tool: Tool,
  env: ToolEnvironment,
  fail: Failer,
  log: (event: LogEvent) => void,
): CallOutcome {
  const stopped = env.stopped();
  const lost = { category: 'worker_lost', error_code: 'WORKER_SHUTDOWN', origin: 'infrastructure' } as const;
  if (stopped === 'shutdown') {
    return fail({ ...lost, certainty: 'unknown' }, `the worker had to stop while ${tool.name} was running`);
  }
  if (stopped === 'cancelled') return { class: 'cancelled', duration_ms: 0 };
  const facts = factsOfError(error);
  const classified = classifyError(facts, env.now());
  const told = toldByError(error, env.redact);
  const exit_code = exitCodeOf(error);
  const isValidation = classified.category.startsWith('validation_');
  // A failure report that cannot be read is one of a validation, too.
  if (isValidation || (classified.category === 'contract_violation' && exit_code !== null)) {
    log(validationFailed({ ...classified, exit_code, missing: told.missed }));
  }
  return fail({ ...classified, ...told }, facts.message || facts.name || 'the tool threw nothing readable');
}

/** Time is up. Only the tool can know that nothing had left yet; then it says so when it is told to stop. */
export function outcomeOfTimeout(error: unknown, tool: Tool, timeoutMs: number, fail: Failer): CallFailed {
  const facts = factsOfError(error);
  const nothingSent = facts.request_sent === false || facts.certainty === 'not_started';
  const certainty = nothingSent ? 'not_started' : 'unknown';
  const message = `${tool.name} gave no answer within ${timeoutMs} ms`;
  return fail({ category: 'timeout', error_code: 'TIMEOUT', certainty }, message);
}
