import type { RunOutcome, RunStatus } from '../../protocol/run.ts';
import { EXIT } from '../report-error.ts';

const OF_OUTCOME: Record<RunOutcome, number> = {
  completed: EXIT.ok,
  finalized: EXIT.guard,
  budget_exhausted: EXIT.budget,
  system_error: EXIT.failed,
  cancelled: EXIT.failed,
};

/** What a run's end means to whoever called. */
export const exitCodeOfOutcome = (outcome: RunOutcome): number => OF_OUTCOME[outcome];

/** The same of a run that may still be under way. */
export const exitCodeOfStatus = ({ outcome, pending_question: question }: RunStatus): number =>
  outcome !== undefined ? OF_OUTCOME[outcome] : question === undefined ? EXIT.ok : EXIT.person;
