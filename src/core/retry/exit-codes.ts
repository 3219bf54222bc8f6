import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { classifyError } from './classify-error.ts';
import type { ClassifiedError } from './classify-error.ts';
import type { ReportedFailure } from './failure-report.ts';

/** The meaning of the protocol's exit codes. They apply only to commands whose tool opted in. */
export const PROTOCOL_EXIT = {
  ok: 0,
  grounding: 1,
  reasoning: 2,
  both: 3,
  unknown_validation: 4,
  other: 5,
} as const;

const VALIDATION_EXITS: ReadonlyMap<number, FailureCategory> = new Map([
  [PROTOCOL_EXIT.grounding, 'validation_grounding'],
  [PROTOCOL_EXIT.reasoning, 'validation_reasoning'],
  [PROTOCOL_EXIT.both, 'validation_both'],
  [PROTOCOL_EXIT.unknown_validation, 'validation_unknown'],
]);

/** Returns the category of a validation code. Null for 0, for 5 and for every code outside the protocol. */
export const categoryOfProtocolExit = (exitCode: number): FailureCategory | null =>
  VALIDATION_EXITS.get(exitCode) ?? null;

/** How a command ended, as plain values. */
export interface CommandEnd {
  exit_code: number | null;
  signal: string | null;
  stderr: string;
  timed_out: boolean;
  /** Exit codes beside 0 that count as an answer. */
  accepts?: readonly number[] | undefined;
  /** True when the tool opted into the protocol. */
  protocol: boolean;
  /** The failure report of this attempt, if there is one. */
  report?: ReportedFailure | null | undefined;
}

export type CommandVerdict =
  | { ok: true }
  | ({
      ok: false;
      /** The exit code after the report was taken into account, for the log. */
      exit_code: number | null;
      overridden_by_report: boolean;
    } & ClassifiedError);

const failedValidation = (
  category: FailureCategory,
  exitCode: number,
): { category: FailureCategory; error_code: string; certainty: 'failed' } => ({
  category,
  error_code: `EXIT_${exitCode}`,
  certainty: 'failed',
});

/**
 * Decides whether the command succeeded. A report can turn a success into a failure, but never changes another exit
 * code.
 */
export const classifyCommandEnd = (end: CommandEnd): CommandVerdict => {
  const endedByItself = end.signal === null && !end.timed_out;
  const base = { ok: false, exit_code: end.exit_code, overridden_by_report: false } as const;

  const isAnswer = end.exit_code === 0 || (end.exit_code !== null && end.accepts?.includes(end.exit_code) === true);
  if (endedByItself && isAnswer) {
    const { report } = end;
    if (report === undefined || report === null) return { ok: true };
    const failure = failedValidation(report.category, report.exit_code);
    return { ...base, exit_code: report.exit_code, overridden_by_report: true, ...failure };
  }
  if (endedByItself && end.protocol && end.exit_code !== null) {
    const category = categoryOfProtocolExit(end.exit_code);
    if (category !== null) return { ...base, ...failedValidation(category, end.exit_code) };
  }
  const { exit_code, signal, stderr, timed_out } = end;
  return { ...base, ...classifyError({ exit_code, signal, stderr, timed_out }) };
};
