import { hasTextField, type Json, findTooDeepPath } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import type { CallFailed } from '../../protocol/tools.ts';
import type { PlannerChoice } from './ports.ts';
import type { RunState } from './state.ts';

const CALLS_IN_BATCH = 64;

/** Checks the usage that a turn reports. A figure that is not a whole number would disable its budget. */
export function checkUse({
  tokens,
  cost_micro_usd: cost,
}: Pick<PlannerChoice, 'tokens' | 'cost_micro_usd'>): RequestProblem | null {
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0;
  if (!isCount(tokens)) return { path: '$.tokens', message: 'expected a whole number, 0 or more' };
  return isCount(cost) ? null : { path: '$.cost_micro_usd', message: 'expected a whole number, 0 or more' };
}

/** Checks that a planner's choice is a valid batch: known tools, and inputs within their caps. */
export function checkChoice(state: RunState, choice: PlannerChoice): RequestProblem | null {
  if (!Array.isArray(choice.calls)) return { path: '$.calls', message: 'expected a list of calls' };
  if (choice.calls.length > CALLS_IN_BATCH) {
    return { path: '$.calls', message: `at most ${CALLS_IN_BATCH} calls at once` };
  }
  const output = checkInput(choice.output ?? null, CAP.chosenOutputBytes);
  if (output !== null) return { path: '$.output', message: output };
  const together = checkInput(
    choice.calls.map((call) => call?.input ?? null),
    CAP.chosenTogetherBytes,
  );
  if (together !== null) return { path: '$.calls', message: `the inputs of all calls together: ${together}` };
  for (const [index, call] of choice.calls.entries()) {
    if (!hasTextField(call, 'tool')) return { path: `$.calls[${index}]`, message: 'expected {tool, input}' };
    if (!Object.hasOwn(state.run.manifest, call.tool)) {
      return { path: `$.calls[${index}].tool`, message: `no tool named ${call.tool.slice(0, 60)}` };
    }
    const problem = checkInput(call.input, CAP.chosenInputBytes);
    if (problem !== null) return { path: `$.calls[${index}].input`, message: problem };
  }
  return null;
}

/** Checks the size of an input, because chosen inputs are kept in the state and sent with every planner view. */
function checkInput(input: Json, most: number): string | null {
  if (findTooDeepPath(input) !== null) return `nested deeper than ${CAP.jsonLevels} levels`;
  const size = JSON.stringify(input)?.length ?? 0;
  return size > most ? `${size} characters are over the cap of ${most}; make it shorter` : null;
}

/** Turns an invalid choice into a failed attempt. */
export const invalidChoice = (problem: RequestProblem, durationMs: number): CallFailed => ({
  class: 'failed',
  certainty: 'failed',
  origin: 'tool',
  category: 'contract_violation',
  error_code: 'INVALID_PLAN',
  message_preview: `${problem.path}: ${problem.message}`,
  paths: [problem.path],
  // The next attempt gets the problem as a sentence, because a schema alone would not say what was wrong.
  missed: [`${problem.path}: ${problem.message}`],
  duration_ms: durationMs,
});
