import { defined } from '../../protocol/json.ts';
import { hashResult } from '../../core/failures/hash-result.ts';
import { salientLine } from '../../core/failures/salient-line.ts';
import { firstFailingLine, salientOutput } from '../../core/failures/salient-output.ts';
import { classifyCommandEnd, type CommandVerdict } from '../../core/retry/exit-codes.ts';
import { reportOverride } from '../../core/retry/log-events.ts';
import { type IgnoredReport, REPORT_GRACE_MS } from '../../core/retry/failure-report.ts';
import type { Certainty, ToolEffect } from '../../protocol/tools.ts';
import type { ToolContext } from '../define-tool.ts';
import { ToolError } from '../tool-error.ts';
import { findReport, type FoundReport } from './reports.ts';
import type { ProcessEnd } from './run-process.ts';

export interface VerdictOptions {
  effect: ToolEffect;
  protocol: boolean;
  /** What was run, to find out whether a later attempt ran the same. */
  command: { argv: readonly string[]; stdin: string | null };
  /** Exit codes that count as an answer. */
  accepts: readonly number[];
  /** Exit codes that mean "nothing was done". */
  refusals: readonly number[];
  reportDir: string;
  /** Undefined means the longest time that a report may take. */
  reportGraceMs: number | undefined;
}

/** The failure of a command, with the error code for its record. */
class CommandFailed extends ToolError {
  readonly exit_code: number | null;
  readonly result_hash: string | undefined;
  constructor(
    message: string,
    verdict: Extract<CommandVerdict, { ok: false }>,
    options: { missed: string[]; said: string; output: string; result_hash: string | undefined; certainty: Certainty },
  ) {
    const { category, error_code: code, retry_after_ms } = verdict;
    const { missed, said, output, certainty } = options;
    super(message, {
      category,
      code,
      certainty,
      said,
      output,
      ...(missed.length === 0 ? {} : { missed }),
      ...defined({ retryAfterMs: retry_after_ms }),
    });
    this.exit_code = verdict.exit_code;
    this.result_hash = options.result_hash;
  }
}

/** Returns if the command succeeded, and throws its failure otherwise. */
export async function throwIfFailed(end: ProcessEnd, context: ToolContext, how: VerdictOptions): Promise<void> {
  const said = outputText(end);
  if (end.stopped) {
    if (isTimeout(context.signal)) await keepStreams(end, context);
    throw Object.assign(new Error('the command was told to stop'), { said, output: salientText(end) });
  }
  const { report, ignored } = await findReportFor(end, context, how);
  const verdict = classifyCommandEnd({
    exit_code: end.exit_code,
    signal: end.signal,
    stderr: end.stderr.text(),
    timed_out: false,
    protocol: how.protocol,
    accepts: how.accepts,
    report: report?.failure ?? null,
  });
  if (verdict.ok) return;
  const missed = report?.failure.missing ?? [];
  if (verdict.overridden_by_report && report !== null) {
    const { exit_code, category, missing } = report.failure;
    const { event, ...fields } = reportOverride({ report: report.name, exit_code, category, missing, ignored });
    context.log(event, fields);
  }
  await keepStreams(end, context);
  const certainty = certaintyOf(end, verdict, how);
  const output = salientText(end);
  const result_hash = isOwnFailure(end, verdict, how) ? hashResult(how.command, verdict.exit_code, output) : undefined;
  throw new CommandFailed(messageOf(end, verdict, missed), verdict, { missed, said, output, result_hash, certainty });
}

/** The codes with which a command of the protocol refuses its work. */
const NOTHING_DONE = new Set([1, 2, 3, 4]);

/** A command ran: only codes that are said to mean "nothing was done" prove that a side effect did not happen. */
function certaintyOf(end: ProcessEnd, verdict: Extract<CommandVerdict, { ok: false }>, how: VerdictOptions): Certainty {
  if (how.effect !== 'side_effect') return verdict.certainty;
  const { exit_code, signal } = end;
  if (signal !== null || exit_code === null) return 'unknown';
  // A report beside exit code 0 says that the work was not good enough, and not that nothing was done.
  const isRefusal = how.refusals.includes(exit_code) || (how.protocol && NOTHING_DONE.has(exit_code));
  return isRefusal ? 'failed' : 'unknown';
}

/**
 * True if the program itself ended with this code and its output names no cause that passes, such as a network failure. With
 * the protocol a retry has another prompt, so it is not the same command. A listed refusal is what another side said, and it may
 * change its mind.
 */
const isOwnFailure = (end: ProcessEnd, { category }: { category: string }, how: VerdictOptions): boolean =>
  !how.protocol &&
  end.signal === null &&
  end.exit_code !== null &&
  !how.refusals.includes(end.exit_code) &&
  category === 'unknown_error';

async function findReportFor(
  end: ProcessEnd,
  context: ToolContext,
  how: VerdictOptions,
): Promise<{ report: FoundReport | null; ignored: IgnoredReport[] }> {
  if (!how.protocol || end.signal !== null) return { report: null, ignored: [] };
  // Only for a success it is worth waiting, since a late report can turn it into a failure.
  const graceMs = end.exit_code === 0 ? Math.min(how.reportGraceMs ?? REPORT_GRACE_MS, REPORT_GRACE_MS) : 0;
  const search = await findReport(how.reportDir, end, context.idempotencyKey, end.ended_at_ms + graceMs);
  for (const { name, because } of search.ignored) context.log('report_ignored', { report: name, because });
  return search;
}

const outputText = (end: ProcessEnd): string => `${end.stdout.text()}\n${end.stderr.text()}`;

const salientText = (end: ProcessEnd): string =>
  salientOutput({ stdout: end.stdout.text(), stderr: end.stderr.text() });

/** One line that is equal for equal failures: what was missing, or the line of the output that names the error. */
function messageOf(end: ProcessEnd, verdict: Extract<CommandVerdict, { ok: false }>, missed: string[]): string {
  if (missed.length > 0) return `missing: ${missed.join(', ')}`;
  if (verdict.overridden_by_report) return 'the failure report cannot be read';
  const stdout = end.stdout.text();
  // Test runners print to stdout, and their first line says nothing about the failure.
  const complaint = salientLine(end.stderr.text()) || firstFailingLine(stdout) || salientLine(stdout);
  return complaint || (end.signal === null ? `exit code ${end.exit_code}` : `ended by ${end.signal}`);
}

/** Stores the whole output of a failed attempt, because its record has only one line of it. */
async function keepStreams(end: ProcessEnd, context: ToolContext): Promise<void> {
  const streams = [['stdout', end.stdout] as const, ['stderr', end.stderr] as const];
  const printed = streams.filter(([, stream]) => stream.bytes > 0);
  await Promise.all(printed.map(([what, stream]) => context.keep(what, stream.raw(), 'text/plain')));
}

const isTimeout = (signal: AbortSignal): boolean =>
  signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
