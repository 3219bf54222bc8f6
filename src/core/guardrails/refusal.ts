import { defined } from '../../protocol/json.ts';
import type { RequestProblem } from '../../protocol/run.ts';

/** Why a message was refused. Nothing has changed then. The API maps each value to a status code. */
export type GuardProblem =
  | 'invalid_report'
  | 'review_missing'
  | 'max_reruns_fixed'
  | 'invalid_policy'
  | 'policy_fixed'
  | 'invalid_override'
  | 'unknown_loop'
  | 'not_a_first_loop'
  | 'other_family'
  | 'loop_running'
  | 'out_of_order'
  | 'other_body'
  | 'ended'
  | 'max_overrides';

export interface Refusal {
  ok: false;
  problem: GuardProblem;
  /** Says what to do. */
  detail: string;
  errors?: RequestProblem[];
}

export const refuse = (problem: GuardProblem, detail: string, errors?: RequestProblem[]): Refusal => ({
  ok: false,
  problem,
  detail,
  ...defined({ errors }),
});
