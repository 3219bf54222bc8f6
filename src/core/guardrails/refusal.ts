/** Why a message was not acted upon. Nothing has changed then; each is a fact that a door can turn into a status. */
export type GuardProblem =
  | 'invalid_report'
  | 'review_missing'
  | 'max_reruns_fixed'
  | 'invalid_override'
  | 'unknown_loop'
  | 'not_a_first_loop'
  | 'other_family'
  | 'loop_running'
  | 'out_of_order'
  | 'other_body'
  | 'ended'
  | 'max_overrides';

export interface InputError {
  /** JSON path, `$` being the body. */
  path: string;
  detail: string;
}

export interface Refusal {
  ok: false;
  problem: GuardProblem;
  /** Says what to do. */
  detail: string;
  errors?: InputError[];
}

export const refuse = (problem: GuardProblem, detail: string, errors?: InputError[]): Refusal => ({
  ok: false,
  problem,
  detail,
  ...(errors === undefined ? {} : { errors }),
});

/** The HTTP status of each problem, beside the problems so that no door forgets one. */
export const STATUS_OF_PROBLEM: Record<GuardProblem, 404 | 409 | 422> = {
  invalid_report: 422,
  review_missing: 422,
  max_reruns_fixed: 422,
  invalid_override: 422,
  unknown_loop: 404,
  not_a_first_loop: 409,
  other_family: 409,
  loop_running: 409,
  out_of_order: 409,
  other_body: 409,
  ended: 409,
  max_overrides: 409,
};
