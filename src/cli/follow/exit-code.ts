import type { RunOutcome, RunStatus } from '../../protocol/run.ts';
import { EXIT } from '../report-error.ts';

const EXIT_OF_OUTCOME: Record<RunOutcome, number> = {
  completed: EXIT.ok,
  finalized: EXIT.guard,
  budget_exhausted: EXIT.budget,
  system_error: EXIT.failed,
  cancelled: EXIT.failed,
};

/** The exit code for the outcome of a run. */
export const exitCodeForOutcome = (outcome: RunOutcome): number => EXIT_OF_OUTCOME[outcome];

/** The exit code for a run that may not have ended yet. */
export const exitCodeForStatus = ({ outcome, pending_question: question }: RunStatus): number =>
  outcome !== undefined ? EXIT_OF_OUTCOME[outcome] : question === undefined ? EXIT.ok : EXIT.person;
