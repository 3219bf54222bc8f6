import type { GuardProblem, Refusal } from '../core/guardrails/refusal.ts';
import { SecondwindError } from '../protocol/errors.ts';
import type { RequestProblem } from '../protocol/run.ts';

/** The guard refused a report or a message. Nothing has changed; `problem` says why. */
export class GuardRefusedError extends SecondwindError {
  override readonly name = 'GuardRefusedError';
  readonly problem: GuardProblem;
  readonly errors: RequestProblem[];

  constructor(refusal: Omit<Refusal, 'ok'>, cause?: unknown) {
    const { problem, detail, errors = [] } = refusal;
    const told = errors.map((error) => `${error.path}: ${error.message}`).join('; ');
    super(problem, told === '' ? detail : told, GUARD_NEXT_STEP[problem], cause);
    this.problem = problem;
    this.errors = errors;
  }
}

const CORRECT = 'Correct the named fields and send it again.';
const NEW_FAMILY = 'Report the first loop of a new family.';
const ASK_STATUS = 'Read the guardrails status of the family: it names the loop that is due.';

export const GUARD_NEXT_STEP: Record<GuardProblem, string> = {
  invalid_report: CORRECT,
  invalid_override: CORRECT,
  review_missing: 'Send a reflection_result with the report.',
  invalid_policy: CORRECT,
  policy_fixed: 'Leave the policy out, or start a new family.',
  max_reruns_fixed: 'Leave max_reruns out.',
  unknown_loop: 'Check the loop id.',
  not_a_first_loop: 'Report the first loop of the family, the one without _r<n>.',
  other_family: 'Check the loop id.',
  loop_running: 'Try again later.',
  out_of_order: ASK_STATUS,
  other_body: 'Send the same body as before to read the decision.',
  ended: NEW_FAMILY,
  max_overrides: 'Let the run end, or start a new family.',
};

export const isGuardProblem = (code: string): code is GuardProblem => Object.hasOwn(GUARD_NEXT_STEP, code);
