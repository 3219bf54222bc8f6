import { PLANNER } from '../../protocol/names.ts';
import type { FailureMemory, FoldedFailure } from '../failures/folded-failure.ts';
import type { Step } from './attempts.ts';
import type { RunState } from './state.ts';

/** Codes of an answer that the model itself can correct. */
const ANSWER_CODES: ReadonlySet<string> = new Set([
  'ANSWER_TOO_LARGE',
  'EMPTY_ANSWER',
  'INPUT_TOO_LARGE',
  'INVALID_ARGUMENTS',
  'INVALID_OUTPUT',
  'INVALID_PLAN',
  'OUTPUT_CUT',
  'OUTPUT_NOT_JSON',
  'TOO_MANY_CALLS',
  'UNKNOWN_TOOL',
]);

/**
 * Leaves out failures that the reader of the guidance cannot act on. A model that is asked again after a rate limit or a
 * lost connection of its own must not be told about it, and a tool cannot change anything about a turn.
 */
export function actionableFailures({ run }: RunState, step: Step, memory: FailureMemory): FailureMemory {
  if (run.model === null || !memory.by_fingerprint.some(isOfPlanner)) return memory;
  const isActionable = (failure: FoldedFailure): boolean =>
    !isOfPlanner(failure) || (step.kind === 'planner' && ANSWER_CODES.has(failure.error_code ?? ''));
  return { ...memory, by_fingerprint: memory.by_fingerprint.filter(isActionable) };
}

const isOfPlanner = ({ tool_name }: FoldedFailure): boolean => tool_name === PLANNER;
