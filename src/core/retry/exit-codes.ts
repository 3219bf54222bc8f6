import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { classifyError } from './classify-error.ts';
import type { ClassifiedError } from './classify-error.ts';
import type { ReportedFailure } from './failure-report.ts';

/** What the codes of the protocol mean. A command speaks it only if its tool says so. */
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

/** The category of a validation code, null for 0, for 5 and for every code that is none of the protocol's. */
export const categoryOfProtocolExit = (exitCode: number): FailureCategory | null =>
  VALIDATION_EXITS.get(exitCode) ?? null;

/** How a command ended, as plain values. */
export interface CommandEnd {
  exit_code: number | null;
  signal: string | null;
  stderr: string;
  timed_out: boolean;
  /** The tool opted into the protocol. */
  protocol: boolean;
  /** The failure report that counts, if there is one. */
  report?: ReportedFailure | null | undefined;
}

export type CommandVerdict =
  | { ok: true }
  | ({
      ok: false;
      /** The code after a report was heard: what the failure is called in the log. */
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

/** Did the command succeed? A report can only turn a success into a failure; every other exit stands as it is. */
export const classifyCommandEnd = (end: CommandEnd): CommandVerdict => {
  const endedByItself = end.signal === null && !end.timed_out;
  const base = { ok: false, exit_code: end.exit_code, overridden_by_report: false } as const;

  if (endedByItself && end.exit_code === 0) {
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
